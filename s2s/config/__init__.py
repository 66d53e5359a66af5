"""Settings: one tree of dataclasses, read from profiles, files, environment and flags."""
