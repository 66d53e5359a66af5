"""Languages as people write them."""

from __future__ import annotations

import pytest

from s2s.config import registry
from s2s.config.language_codes import LONG_CODES, language_code, with_language_codes


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ("de", "de"),
        ("deu", "de"),
        ("de-DE", "de"),
        ("pt_BR", "pt"),
        ("German", "de"),
        (" URDU ", "ur"),
        ("urd-script_arabic", "ur"),
        ("nan", "nan"),
        ("Klingon", "klingon"),
        ("italian", "it"),
        ("it-IT", "it"),
        ("Mandarin", "zh"),
        ("jpn", "ja"),
    ],
)
def test_a_language_has_one_code(written: str, code: str) -> None:
    assert language_code(written) == code


def test_the_table() -> None:
    assert len(LONG_CODES) == 60
    assert all(len(code) == 2 and len(long) == 3 for code, long in LONG_CODES.items())
    assert len(set(LONG_CODES.values())) == len(LONG_CODES)


@pytest.mark.parametrize("backend", ["mms", "pocket"])
def test_the_registry_reads_it_as_other_programs_write_it(backend: str) -> None:
    hook = registry.find("tts", backend).normalise
    assert hook({"tts_language": "deu", "speed": 1.0}) == {"language": "de", "speed": 1.0}
    assert hook({"tts_language": "deu", "language": "fra"}) == {"language": "fr"}
    assert hook({"languages": "deu, French"}) == {"languages": "de,fr"}
    assert hook({"languages": ["swh", "en"]}) == {"languages": ["sw", "en"]}
    assert with_language_codes({"seed": 1}) == {"seed": 1}
