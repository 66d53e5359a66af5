"""The tool that knows the time."""

from __future__ import annotations

from datetime import datetime, timedelta

from s2s.tools import ToolContext
from s2s.tools.builtin.wall_clock import current_time, said_time, zone_of
from s2s.tools.tool import tool_of


def test_the_sentence_holds_time_weekday_and_date() -> None:
    now = datetime(2026, 11, 30, 9, 5)
    assert said_time(now) == "It is 09:05, on Monday, 30 November 2026."
    assert said_time(now, "Tokyo") == "It is 09:05 in Tokyo, on Monday, 30 November 2026."


def test_cities_have_their_zones() -> None:
    tokyo = zone_of("tokyo")
    assert tokyo is not None
    assert tokyo.utcoffset(datetime(2026, 1, 1)) == timedelta(hours=9)
    assert zone_of("New York") is not None
    assert zone_of("Atlantis") is None


def test_an_unknown_city_is_told() -> None:
    assert current_time("New York").startswith("It is ")
    found = tool_of(current_time)
    assert found is not None
    outcome = found.call('{"place": "Atlantis"}', ToolContext())
    assert outcome.failed
    assert "no time zone is known of 'Atlantis'" in outcome.text


def test_it_is_a_tool_that_needs_nothing() -> None:
    found = tool_of(current_time)
    assert found is not None
    outcome = found.call("", ToolContext())
    assert outcome.sayable
    assert not outcome.failed
