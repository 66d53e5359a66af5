"""The server: HTTP and WebSocket on starlette, who may come in, and the HTTP endpoints."""
