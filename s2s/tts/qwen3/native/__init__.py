"""Qwen3-TTS on the compiled kernel."""
