"""Model files on this disk, and where they come from."""
