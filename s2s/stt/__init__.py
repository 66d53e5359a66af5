"""Speech to text: one handler, one protocol, one module a backend."""
