"""@openai/agents-realtime over WebRTC in Debian's Chromium, with a fake microphone; the same with
packets that are lost and late."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.clients.test_clients import CLIENTS
from tests.support.browser import Browsers
from tests.support.clients import environment
from tests.support.lossy_relay import LossyRelay
from tests.support.scripted_server import scripted_server

pytestmark = [pytest.mark.clients, pytest.mark.browser, pytest.mark.timeout(1500)]
BUNDLE = "node_modules/@openai/agents-realtime/dist/bundle/openai-realtime-agents.umd.js"
DRIVER = Path(__file__).parent / "drive_calls.js"
LOSS, JITTER_S = 0.05, 0.06


@pytest.mark.parametrize("lossy", [False, True], ids=["loopback", "5 % lost, 60 ms late"])
def test_a_browser_s_calls_are_answered_interrupted_and_hung_up(
    browsers: Browsers, *, lossy: bool
) -> None:
    agents_js = next(client for client in CLIENTS if client.name == "agents-js")
    bundle = environment(agents_js) / BUNDLE
    with ExitStack() as stack:
        port = stack.enter_context(scripted_server())
        page = browsers.open(f"http://127.0.0.1:{port}/health")
        relays: list[LossyRelay] = []

        def offered(sdp: str) -> str:
            relays.append(stack.enter_context(LossyRelay(LOSS, JITTER_S)))
            return relays[-1].offer(sdp)

        def answered(sdp: str) -> str:
            return relays[-1].answer(sdp)

        page.expose_function("offered", offered)  # pyright: ignore[reportUnknownMemberType]
        page.expose_function("answered", answered)  # pyright: ignore[reportUnknownMemberType]
        page.add_script_tag(path=bundle)
        url = f"http://127.0.0.1:{port}/v1/realtime/calls"
        results = page.evaluate(DRIVER.read_text("utf-8"), {"url": url, "through": lossy})
        assert {what: said for what, said in results.items() if said != "passes"} == {}
        assert len(results) == 4
        if lossy:
            assert len(relays) == len(results)
            assert sum(relay.lost for relay in relays) > 10
