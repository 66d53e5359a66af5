"""The language model: one handler, the history, and one module a backend."""
