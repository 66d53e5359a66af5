"""Qwen3-TTS in two places: its codes for a decoder elsewhere, and the decoder alone here."""
