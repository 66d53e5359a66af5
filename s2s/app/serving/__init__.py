"""The command `serve`: its flags, its start, and the conversations of its clients."""
