"""What MMS calls a language: its ISO 639-3 code, for some with a script. Pure."""

from __future__ import annotations

from s2s.config.language_codes import LONG_CODES

_WITH_SCRIPT = {"az": "azj-script_latin", "ur": "urd-script_arabic", "uz": "uzb-script_cyrillic"}


def folder_of(code: str) -> str:
    """The folder of a language's voice, for an ISO 639-1 code or one of MMS' own."""
    return _WITH_SCRIPT.get(code) or LONG_CODES.get(code, code)
