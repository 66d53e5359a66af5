"""The voices: one module or folder a backend, each made as `Backend(config, resources)`."""
