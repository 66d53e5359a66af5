"""What every request goes through: whatever is raised is an answer, and is counted."""

from __future__ import annotations

from tests.support.http import ASKED, client
from tests.support.serving import Writer, fake_server


def test_a_fault_of_ours_is_an_answer_too_and_says_nothing_of_the_inside():
    with client(fake_server(chat=Writer(error=KeyError("inner")))) as http:
        answer = http.post("/v1/chat/completions", json=ASKED)
        assert answer.status_code == 500
        assert answer.json()["error"]["type"] == "server_error"
        assert "inner" not in answer.text
        assert http.get("/v1/models").status_code == 200
