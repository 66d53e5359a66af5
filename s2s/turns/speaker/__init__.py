"""Only my voice: whose speech is heard, and what is dropped because it is somebody else's."""
