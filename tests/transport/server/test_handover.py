"""What is handed over says what it does not know."""

from __future__ import annotations

from s2s.transport.server.handover import ClientOpening, SessionRefused, SocketGone


def test_a_refusal_names_the_field_and_the_protocols_word() -> None:
    plain = SessionRefused("no such voice")
    assert (str(plain), plain.param, plain.code) == ("no such voice", None, "invalid_value")
    named = SessionRefused("what is this", param="session.x", code="unknown_parameter")
    assert (named.param, named.code) == ("session.x", "unknown_parameter")
    assert isinstance(named, ValueError)


def test_a_socket_that_is_gone_is_a_lost_connection() -> None:
    assert issubclass(SocketGone, ConnectionError)


def test_a_client_of_which_nothing_is_known_does_not_come_back() -> None:
    opening = ClientOpening()
    assert (opening.model, opening.intent, opening.session) == ("", "", None)
    assert opening.resumed is None
    assert not opening.may_resume
    opening.on_error("any_code")  # counts nothing, and does not fail
