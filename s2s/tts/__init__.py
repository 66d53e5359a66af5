"""Text to speech: one handler, one protocol, its backends in `backends/`."""
