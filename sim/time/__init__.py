"""Simulated time: the kernel, and what is drawn, each draw at an address of its own."""
