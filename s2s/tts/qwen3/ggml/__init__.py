"""Qwen3-TTS on llama.cpp."""
