"""Text to speech: one handler, one protocol, one module a backend."""
