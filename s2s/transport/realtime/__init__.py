"""The Realtime protocol: what a client says and is told, over any pair of send and receive."""
