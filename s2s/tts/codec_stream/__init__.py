"""Codes instead of sound over a WebSocket: one end makes the frames of a speech codec, the other
decodes them. The messages, and what each end keeps of a stream; knows no socket, model or decoder.

What is said, and what version 1 of it is: docs/codec-stream.md.
"""
