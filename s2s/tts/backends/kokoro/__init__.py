"""Kokoro-82M: 54 voices of eight languages on onnxruntime, one short call a clause."""
