"""A client of the protocol in simulated time."""

from __future__ import annotations

from s2s.testing.simulator import Said, tone
from s2s.testing.wire_simulator import WireSimulation, as_sent


def test_what_is_said_over_the_wire_is_known_by_its_samples():
    said = as_sent(Said(tone(1.0), "hello there"))
    held = WireSimulation([said])
    with held.connected({"instructions": "Rhyme."}):
        began_s = held.clock.now()
        list(held.speak(said.audio))
        assert 0.95 < held.clock.now() - began_s < 1.1  # as fast as it is said
        list(held.listen(3.0))
    assert held.kinds()[:3] == ["session.created", "session.updated", "session.updated"]
    assert len(held.texts) == len(held.received)
    assert held.chat.prompts[-1][-1].content == "hello there"
    assert held.chat.prompts[-1][0].content == "Rhyme."
