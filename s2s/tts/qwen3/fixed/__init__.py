"""Qwen3-TTS in ONNX graphs whose shapes are all fixed, for accelerators that compile ahead."""
