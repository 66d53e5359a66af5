"""The language model on a server: its codes come over a WebSocket and are decoded here."""
