"""Short-lived keys."""

from __future__ import annotations

from s2s.transport.server.client_secrets import MOST, PREFIX, ClientSecrets


def test_a_secret_counts_until_it_ends():
    secrets = ClientSecrets()
    made = secrets.make({"type": "realtime"}, 60, 1_000.5)
    assert made.value.startswith(PREFIX)
    assert len(made.value) > 30
    assert made.expires_at == 1_060
    assert secrets.find(made.value, 1_059.9) == made
    assert secrets.find(made.value, 1_060.0) is None
    assert secrets.find(None, 1_000.5) is None
    assert secrets.find("ek_other", 1_000.5) is None


def test_no_two_are_equal_and_the_oldest_go():
    secrets = ClientSecrets()
    made = [secrets.make({}, 60, 0.0).value for _ in range(MOST + 3)]
    assert len(set(made)) == len(made)
    assert [secrets.find(each, 1.0) is not None for each in made[:4]] == [False] * 3 + [True]
