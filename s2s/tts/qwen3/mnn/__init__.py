"""Qwen3-TTS on MNN."""
