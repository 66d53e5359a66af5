"""What MMS calls a language."""

from __future__ import annotations

import pytest

from s2s.tts.backends.mms.languages import folder_of


@pytest.mark.parametrize(
    ("code", "folder"), [("sw", "swh"), ("nan", "nan"), ("ur", "urd-script_arabic"), ("ms", "zlm")]
)
def test_a_voice_has_a_folder(code: str, folder: str) -> None:
    assert folder_of(code) == folder
