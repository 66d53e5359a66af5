"""Measuring conversations: a deterministic simulator, and the figures computed from a recording."""
