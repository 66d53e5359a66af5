"""What this machine can do with a model: measured once, kept."""
