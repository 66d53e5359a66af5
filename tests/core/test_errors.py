"""One class stands above what the stages' models raise."""

from __future__ import annotations

import pytest

from s2s.core.errors import StageError
from s2s.llm.base import LlmError
from s2s.stt.base import SttError
from s2s.tts.base import TtsError


@pytest.mark.parametrize("error", [SttError, LlmError, TtsError])
def test_a_stage_s_error_is_a_stage_error_and_keeps_its_message(error: type[StageError]):
    with pytest.raises(StageError, match="install it"):
        raise error("no model: install it")
