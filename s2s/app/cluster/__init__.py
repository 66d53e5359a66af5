"""The command `cluster`: the server as several processes, under Ray Serve."""
