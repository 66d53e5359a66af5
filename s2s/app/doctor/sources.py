"""The command `doctor --sources`: whether every source of every model answers."""

from __future__ import annotations

from itertools import groupby

from s2s.models.sources import SourceFound, check_sources
from s2s.models.store import Store


def sources(store: Store) -> int:
    """Ask every source of every model, and print a line for each; 1 when a file has none left.

    A source that is silent while another one has the file is a warning: `models pull` takes the
    other.
    """
    lost = silent = 0
    found = check_sources(store.models)
    for (model, file), each in groupby(found, key=lambda one: (one.model, one.file)):
        answers = list(each)
        gone = all(answer.problem for answer in answers)
        lost += gone
        for answer in answers:
            silent += bool(answer.problem)
            sign = "ok  " if not answer.problem else "FAIL" if gone else "!   "
            print(f"{sign} {model}/{file}: {_told(answer)}", flush=True)
    print(f"{silent} sources do not answer; {lost} files cannot be had")
    return 1 if lost else 0


def _told(answer: SourceFound) -> str:
    return f"{answer.source}{f': {answer.problem}' if answer.problem else ''}"
