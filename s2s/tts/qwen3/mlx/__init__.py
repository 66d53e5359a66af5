"""Qwen3-TTS on MLX."""
