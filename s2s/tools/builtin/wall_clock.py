"""The tool that knows the time and the date, here and in the cities of the world."""

from __future__ import annotations

import re
from datetime import datetime
from functools import cache
from typing import Annotated
from zoneinfo import ZoneInfo, available_timezones

from pydantic import AfterValidator

from s2s.tools.tool import tool

_NOT_CITIES = ("Etc/", "posix/", "right/", "SystemV/", "US/", "Canada/", "Brazil/", "Mexico/")


def known_place(place: str) -> str:
    """`place`, whose time zone is known.

    Raises:
        ValueError: it is not.
    """
    if place.strip() and zone_of(place) is None:
        raise ValueError(f"no time zone is known of {place!r}; name a large city near it")
    return place


Place = Annotated[str, AfterValidator(known_place)]


@tool(
    name="current_time",
    wish="ask for the current time or date",
    cues=(
        r"\bwhat(?:'s| is|s)? (?:the )?(?:current |exact |local )?(?:time|date|day|month|year)\b",
        r"\bwhat (?:time|day|date|weekday|month|year) (?:is|do we|have we)\b",
        r"\b(?:tell|give|have|got|know|say|check|show)\b.{0,20}\b(?:time|date|day (?:it|today))\b",
        r"\b(?:today's|todays|current) (?:date|time|day)\b",
        r"\bwhich (?:day|month|year|weekday)\b",
        r"\bhow late\b",
    ),
    examples=(
        ("What time is it?", "{}"),
        ("Can you tell me the date today?", "{}"),
        ("What's the time in Tokyo?", '{"place": "Tokyo"}'),
    ),
    written="place",
)
def current_time(place: Place = "") -> str:
    """Tells the current time, weekday and date.

    Args:
        place: a city, to have its time; empty for the time here.
    """
    zone = zone_of(place) if place.strip() else None
    now = datetime.now(zone).astimezone(zone)
    return said_time(now, place.strip() if zone is not None else "")


def said_time(now: datetime, place: str = "") -> str:
    """The sentence that tells a time."""
    where = f" in {place}" if place else ""
    return f"It is {now:%H:%M}{where}, on {now:%A}, {now.day} {now:%B} {now:%Y}."


def zone_of(place: str) -> ZoneInfo | None:
    """The time zone of a city; None where it is not known."""
    found = _cities().get(_plain(place))
    return ZoneInfo(found) if found else None


@cache
def _cities() -> dict[str, str]:
    """City, in lower-case letters -> the name of its zone."""
    cities: dict[str, str] = {}
    for zone in sorted(available_timezones()):
        if "/" in zone and not zone.startswith(_NOT_CITIES):
            cities.setdefault(_plain(zone.rpartition("/")[2]), zone)
    return cities


def _plain(place: str) -> str:
    return re.sub(r"[\W_]+", " ", place.casefold()).strip()
