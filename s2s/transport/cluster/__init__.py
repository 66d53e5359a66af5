"""A server that runs as several processes: its settings, and the sockets of each."""
