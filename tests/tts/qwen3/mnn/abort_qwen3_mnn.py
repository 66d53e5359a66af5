"""Stops of MNN at random moments, in its own environment: tests/tts/qwen3/mnn/test_backend.py."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.tts.qwen3.engine.elsewhere import stopped

print("\n" + json.dumps(stopped("mnn", Path(sys.argv[1]))))
