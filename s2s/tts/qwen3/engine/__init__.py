"""The one loop from a request to sound, for every backend."""
