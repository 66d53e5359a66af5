"""Many sessions on one server, on models that cost nothing: what the server itself takes."""
