"""ONNX graphs of voices: read, understood, cut and rewritten."""
