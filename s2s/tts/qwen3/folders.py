"""Where a store keeps what belongs to Qwen3-TTS."""

from __future__ import annotations

CONVERTED_FOLDER = "qwen3-converted"
"""Checkpoints in the form that a backend loads."""
GRAPHS_FOLDER = "qwen3-graphs"
"""Graphs of codec and speaker encoder."""
KERNEL_FOLDER = "kernels"
VOICES_FOLDER = "voices"
CALIBRATION_FILE = "qwen3-speed.json"
