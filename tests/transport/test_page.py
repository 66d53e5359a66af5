"""The files of the page as a server hands them out."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from s2s.transport.page import MEDIA_TYPES, PAGE_HEADERS, page_file

FOLDER = Path(__file__).parents[2] / "s2s" / "transport" / "web"
FILES = sorted(path.name for path in FOLDER.iterdir())


@pytest.mark.parametrize("name", FILES)
def test_every_file_is_served_as_what_it_is(name: str) -> None:
    served = page_file(f"/{name}")
    assert served is not None
    assert served.content == (FOLDER / name).read_bytes()
    assert served.media_type == MEDIA_TYPES[Path(name).suffix]


def test_the_page_itself_stands_at_the_root() -> None:
    assert page_file("/") == page_file("/index.html")


@pytest.mark.parametrize(
    "path", ["", "page.js", "/nothing.js", "/../page.py", "/%2e%2e/page.py", "/web/", "//page.js"]
)
def test_nothing_else_is_served(path: str) -> None:
    assert page_file(path) is None


@pytest.mark.parametrize("name", FILES)
def test_nothing_comes_from_outside_and_every_file_that_is_named_is_there(name: str) -> None:
    text = (FOLDER / name).read_text(encoding="utf-8")
    addresses = set(re.findall(r"(?:https?|wss?):?//[\w.]+", text))
    assert addresses <= {"http://www.w3.org"}, "the name of SVG, which nothing fetches"
    named = re.findall(
        r"""(?:src|href)="([^"#]+)"|from "\./([^"]+)"|addModule\("([^"]+)"\)""", text
    )
    for names in named:
        assert (FOLDER / "".join(names)).is_file(), names


def test_the_policy_of_the_page_allows_its_own_files_alone() -> None:
    policy = PAGE_HEADERS["Content-Security-Policy"]
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    assert "*" not in policy
    page = (FOLDER / "index.html").read_text(encoding="utf-8")
    assert not re.search(r"<script(?![^>]*\bsrc=)|\sstyle=|\son\w+=", page), "what it would refuse"


def test_the_manifest_can_be_read() -> None:
    assert json.loads((FOLDER / "page.webmanifest").read_text(encoding="utf-8"))["start_url"] == "/"
