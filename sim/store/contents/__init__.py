"""What the store holds, and from which moment on whoever looks can see it."""
