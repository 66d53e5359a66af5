"""One call: who does not come, who goes, and what is left of it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from aiortc import RTCConfiguration, RTCPeerConnection, RTCSessionDescription

from s2s.transport.server.config import ServeConfig
from s2s.transport.webrtc import call as module
from s2s.transport.webrtc.call import BadOffer, PeerCall
from s2s.transport.webrtc.channel import ChannelSocket
from s2s.transport.webrtc.tracks import WebRtcSound

WAIT_S = 60.0


def a_call(serve: Callable[[ChannelSocket, WebRtcSound], Awaitable[None]]) -> PeerCall:
    config = ServeConfig()
    return PeerCall(config, ChannelSocket(config, lambda _: None), serve)


async def nobody(socket: ChannelSocket, sound: WebRtcSound) -> None:
    raise AssertionError("nobody came")


async def offered(label: str = "oai-events") -> tuple[RTCPeerConnection, str]:
    peer = RTCPeerConnection(RTCConfiguration(iceServers=[]))
    peer.addTransceiver("audio")
    peer.createDataChannel(label)
    await peer.setLocalDescription(await peer.createOffer())
    return peer, peer.localDescription.sdp


def test_the_client_is_asked_for_packets_of_40_ms() -> None:
    async def main() -> str:
        peer, sdp = await offered()
        call = a_call(nobody)
        answer = await call.answer(sdp)
        await peer.setRemoteDescription(RTCSessionDescription(answer, "answer"))
        await call.close()
        await peer.close()
        return answer

    answer = asyncio.run(main())
    audio = next(part for part in answer.split("m=") if part.startswith("audio"))
    assert audio.count("a=ptime:40\r\n") == 1
    assert answer.count("a=ptime") == 1


def test_a_client_that_does_not_come_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CONNECT_S", 0.01)

    async def main() -> None:
        peer, sdp = await offered()
        call = a_call(nobody)
        assert (await call.answer(sdp)).startswith("v=0")
        await asyncio.wait_for(call.run(), WAIT_S)
        assert call.socket.gone.is_set()
        await peer.close()

    asyncio.run(main())


def test_a_call_lasts_until_its_client_hangs_up() -> None:
    async def main() -> list[str | None]:
        said: list[str | None] = []
        came = asyncio.Event()

        async def serve(socket: ChannelSocket, sound: WebRtcSound) -> None:
            came.set()
            said.append(await socket.receive_text())
            said.append(await socket.receive_text())

        peer, sdp = await offered()
        call = a_call(serve)
        answer = await call.answer(sdp)
        running = asyncio.ensure_future(call.run())
        await peer.setRemoteDescription(RTCSessionDescription(answer, "answer"))
        await asyncio.wait_for(came.wait(), WAIT_S)
        call.socket.came("hello")
        await peer.close()
        await asyncio.wait_for(running, WAIT_S)
        await call.close()
        return said

    assert asyncio.run(main()) == ["hello", None]


def test_hanging_up_closes_the_channel_before_the_connection() -> None:
    """Or else browsers tell their pages of an error."""

    async def main() -> str:
        came = asyncio.Event()

        async def serve(socket: ChannelSocket, sound: WebRtcSound) -> None:
            came.set()
            await socket.receive_text()

        peer = RTCPeerConnection(RTCConfiguration(iceServers=[]))
        peer.addTransceiver("audio")
        channel = peer.createDataChannel("oai-events")
        await peer.setLocalDescription(await peer.createOffer())
        call = a_call(serve)
        answer = await call.answer(peer.localDescription.sdp)
        running = asyncio.ensure_future(call.run())
        messages, closed = peer.sctp, asyncio.get_running_loop().create_future()
        assert messages is not None
        channel.on("close", lambda: closed.set_result(messages.state))
        await peer.setRemoteDescription(RTCSessionDescription(answer, "answer"))
        await asyncio.wait_for(came.wait(), WAIT_S)
        call.hang_up()
        state = await asyncio.wait_for(closed, WAIT_S)
        await asyncio.wait_for(running, WAIT_S)
        await peer.close()
        return state

    assert asyncio.run(main()) == "connected"


@pytest.mark.parametrize("offer", ["", "m=audio m=application", "v=0\r\nm=audio 9 RTP/AVP 0\r\n"])
def test_an_offer_that_cannot_be_answered_is_no_call(offer: str) -> None:
    async def main() -> None:
        call = a_call(nobody)
        with pytest.raises(BadOffer):
            await call.answer(offer)
        await call.close()

    asyncio.run(main())
