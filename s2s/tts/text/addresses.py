"""Reads web and e-mail addresses, file names and paths. Pure."""

from __future__ import annotations

import re

from s2s.tts.text.names import SignNames
from s2s.tts.text.tracked import Tracked

_TLDS = (
    "com|org|net|edu|gov|mil|int|info|biz|io|ai|app|dev|me|tv|co|us|uk|de|fr|es|it|pt|nl|be|ch|at"
    "|eu|jp|cn|in|br|ca|au|ru|pl|se|no|fi|dk|cz|kr|mx|ar|tw|hk|nz|za|xyz|tech|cloud|page|gg|ly"
)
_EXTENSIONS = (
    "py|js|ts|tsx|jsx|mjs|json|jsonl|yaml|yml|toml|ini|cfg|conf|md|rst|txt|csv|tsv|xml|html|htm|css"
    "|sh|bat|ps1|c|h|cpp|hpp|cc|cs|go|rs|java|kt|swift|rb|php|sql|ipynb|log|lock|pdf|docx?|xlsx?"
    "|pptx?|odt|png|jpe?g|gif|svg|webp|bmp|ico|mp3|mp4|m4a|wav|flac|ogg|mkv|avi|mov|webm|zip|tar|gz"
    "|7z|rar|exe|dll|so|deb|rpm|iso|apk|dmg|bin|onnx|gguf|safetensors|wasm|env|gitignore"
)
_EMAIL = re.compile(
    r"(?<![\w.+-])(?:mailto:)?([\w.+%-]+)@([A-Za-z0-9](?:[A-Za-z0-9-]*\.)+[A-Za-z]{2,})(?![\w@])"
)
_LOGIN = re.compile(r"(?<=://)[^\s/]*@")
"""Who logs in at an address, and the password: never spoken."""
_URL = re.compile(
    r"(?<![\w@.])(?:[a-z][a-z0-9+.-]{1,9}://(?P<any>[^\s/?#<>()\[\]\"'`,，。、]+)"
    rf"|(?P<host>(?:www\.)?(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+(?:{_TLDS})(?::\d+)?)"
    r"(?![\w@-]|\.\w))(?P<path>/[^\s?#<>()\[\]\"'`,，。、]*)?(?:[?#][^\s<>()\[\]\"'`，。、]*)?"
)
_WINDOWS_PATH = re.compile(r"(?<!\w)[A-Za-z]:\\[\w.\\ -]*[\w\\]|\\\\\w[\w.\\-]*\w")
_PATH = re.compile(
    r"(?<![\w/.~<€$£¥%°)\]])(?:(?:~|\.{1,2})/(?:[\w.@+-]+/)*[\w.@+-]*|/(?:[A-Za-z_.][\w.@+-]*/?)+"
    rf"|(?:[\w.@+-]+/)+[\w-]+(?:\.[\w-]+)*\.(?:{_EXTENSIONS})(?!\w))"
)
_FILE = re.compile(
    rf"(?<![\w./@-])\.?[A-Za-z_][\w-]+(?:\.[\w-]+)*\.(?:{_EXTENSIONS})(?![\w/@])", re.I
)
_TRAILING = ".,;:!?"
_MAX_SPOKEN_PATH = 30
"""Nobody follows a longer one by ear: only the host is read."""
_SPELLED_TEXT = """
py js ts tsx jsx mjs md rst csv tsv xml html htm css sh ps1 cpp hpp cs rs kt rb php sql pdf docx
xlsx pptx odt png jpg svg bmp mp3 mp4 m4a ogg mkv avi mov gz 7z rar exe dll rpm iso apk dmg yml
c h
"""
_SPELLED_EXTENSIONS = frozenset(_SPELLED_TEXT.split())
_SPELLED_DOMAINS = frozenset({"ai", "io", "tv", "uk", "us", "eu", "xyz"})
_WORD_OR_SIGN = re.compile(r"[^\W_]+|[^\w\s]|_")


def read_addresses(text: Tracked, names: SignNames) -> None:
    """Replace addresses and paths in place by how they are said."""
    if "@" in text.text:
        text.sub(_LOGIN, "")
        text.sub(_EMAIL, lambda m: f"{_name(m[1], names)} {names.at} {_name(m[2], names)}")
    if "." in text.text:
        text.sub(_URL, lambda m: _read_url(m, names))
    if "\\" in text.text:
        text.sub(_WINDOWS_PATH, lambda m: _name(m.group(), names))
    if "/" in text.text:
        text.sub(_PATH, lambda m: _read_path(m.group(), names))
    if "." in text.text:
        text.sub(_FILE, lambda m: _name(m.group(), names))


def _read_url(match: re.Match[str], names: SignNames) -> str:
    whole = match.group()
    tail = whole[len(whole.rstrip(_TRAILING)) :]
    host = (match["host"] or match["any"]).rstrip(_TRAILING)
    host = host[4:] if host.lower().startswith("www.") else host
    path = (match["path"] or "").rstrip(_TRAILING + "/")
    readable = path if len(path) <= _MAX_SPOKEN_PATH else ""
    return _name(host + readable, names) + tail


def _read_path(path: str, names: SignNames) -> str:
    stem = path.rstrip(_TRAILING)
    return _name(stem, names) + path[len(stem) :]


def _name(text: str, names: SignNames) -> str:
    """Signs by name, and a file's extension as it is said."""
    signs = {
        ".": names.dot,
        "@": names.at,
        "/": names.slash,
        "\\": names.backslash,
        "-": names.dash,
        "_": names.underscore,
        ":": names.colon,
        "~": "tilde",
        "+": "plus",
        "%": "",
    }
    head, dot, extension = text.rpartition(".")
    if dot and extension.lower() in _SPELLED_EXTENSIONS | _SPELLED_DOMAINS:
        text, last = head + dot, " ".join(extension.upper())
    else:
        last = ""
    words = [signs.get(part, part) for part in _WORD_OR_SIGN.findall(text)]
    return " ".join(word for word in [*words, last] if word)
