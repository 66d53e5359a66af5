"""Qwen3-TTS under measurement: utterances, settings, parity."""
