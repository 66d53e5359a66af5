"""What stands in a client's events, looked at before it is believed."""

from __future__ import annotations

from collections.abc import Mapping

from wyoming.event import Event

from s2s.core.untyped import is_list, is_mapping
from s2s.transport.wyoming.framing import WireFault


def text(event: Event, name: str, most: int) -> str:
    """A text that must be there.

    Raises:
        WireFault: it is not, or is longer than `most` characters.
    """
    value: object = event.data.get(name)
    if not isinstance(value, str):
        raise WireFault("bad_event", f"{event.type} needs a text `{name}`.")
    if len(value) > most:
        raise WireFault("too_large", f"`{name}` has {len(value)} characters; {most} are the most.")
    return value


def language(event: Event) -> str | None:
    """The ISO 639-1 code of a language that is named: `de` of `de-DE` and of `de_DE`."""
    return language_code(event.data.get("language"))


def language_code(value: object) -> str | None:
    """Likewise of any value; None where it names none."""
    if not isinstance(value, str) or not value.strip():
        return None
    return value.strip().replace("_", "-").partition("-")[0].lower()


def context(event: Event) -> dict[str, object]:
    """What the client wants to be told back."""
    value: object = event.data.get("context")
    return dict(value) if is_mapping(value) else {}


def names(event: Event, name: str) -> tuple[str, ...]:
    """A list of names; empty where there is none."""
    value: object = event.data.get(name)
    return tuple(each for each in value if isinstance(each, str)) if is_list(value) else ()


def voice(event: Event) -> Mapping[str, object]:
    """The voice that is asked for, as it is described; empty where there is none."""
    value: object = event.data.get("voice")
    return value if is_mapping(value) else {}
