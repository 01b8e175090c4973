"""The writers: when they begin a job, what it asks for, and what follows when it is refused."""
