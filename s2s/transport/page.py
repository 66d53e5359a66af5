"""The files of the web page to talk through, as a server hands them out. Knows no server.

The page itself lies in `web/`, as it is served: nothing is built, and nothing comes from outside.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "web"

MEDIA_TYPES: Mapping[str, str] = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
    ".webmanifest": "application/manifest+json",
}
"""What a file is, by the end of its name; browsers run no module of another type."""

PAGE_HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Permissions-Policy": "microphone=(self), camera=(), geolocation=()",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}
"""Sent with each of the page's files: it runs what came with it alone, nobody frames it, and a key
in its address is told to nobody."""


@dataclass(frozen=True, slots=True)
class PageFile:
    """One file of the page."""

    content: bytes
    media_type: str


@cache
def _files() -> Mapping[str, PageFile]:
    files = {
        f"/{path.name}": PageFile(path.read_bytes(), MEDIA_TYPES[path.suffix])
        for path in sorted(_FOLDER.iterdir())
    }
    return files | {"/": files["/index.html"]}


def page_file(path: str) -> PageFile | None:
    """What is served at the path of an address, such as `/` or `/page.js`; None: no file of ours.

    The files are read once, and listed then: no path that a client sends is ever opened.
    """
    return _files().get(path)
