"""Qwen3-TTS on small machines: exact, streaming, and stoppable at every frame.

Imports nothing of the pipeline: usable alone as a library.
"""
