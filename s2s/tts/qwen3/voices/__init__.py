"""Enrolled voices, and the encoders that make them."""
