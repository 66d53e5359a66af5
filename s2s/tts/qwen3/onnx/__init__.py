"""Qwen3-TTS on ONNX Runtime."""
