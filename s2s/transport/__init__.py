"""The outside world: devices, files, sockets. Knows audio and messages, never a model."""
