"""Piper/VITS voices, streamed."""
