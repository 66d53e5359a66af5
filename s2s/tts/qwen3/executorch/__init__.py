"""Qwen3-TTS on ExecuTorch."""
