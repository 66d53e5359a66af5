"""Stops of ExecuTorch at random moments, in its own environment:
tests/tts/qwen3/executorch/test_backend.py."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.tts.qwen3.engine.elsewhere import stopped

print("\n" + json.dumps(stopped("executorch", Path(sys.argv[1]))))
