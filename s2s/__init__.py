"""s2s: a local, real-time voice assistant and speech server.

Importing this package loads no model runtime (onnxruntime, llama.cpp, torch, ...):
backends are imported when they are chosen.
"""

__version__ = "0.1.0"
