"""Random clients, and what must hold in every one of their sessions.

A seed gives a client: what it says and when, how its turns are detected, what it asks, cancels,
cuts, puts in and takes out, and models of random speed that sometimes fail.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from s2s.core.control import (
    ControlError,
    Hearing,
    ResponseRequest,
    SemanticVad,
    ServerVad,
)
from s2s.core.events import (
    AnswerText,
    ResponseDone,
    ResponseStarted,
    ToolCalled,
    TurnBegan,
    TurnCommitted,
    TurnEnded,
    TurnTranscript,
    TurnTranscriptFailed,
)
from s2s.core.items import ROOT, MessageItem, TextPart, answer_item_id
from s2s.session.models import Models
from s2s.session.session import stages_alive
from s2s.stt.base import Transcriber
from s2s.testing.client_simulator import ClientSimulation
from s2s.testing.random_conversations import OVERLAPS, QUESTIONS, FailingTranscriber
from s2s.testing.simulator import ModelCosts, Said, tone, with_pauses
from s2s.transport.client_playback import ClientSound

SILENT_S, SETTLES_S = 9.0, 60.0
"""After so much silence, and so long without a sound, everything has come to its end."""


@dataclass
class RandomClient:
    """A client and its session. `run` it, then look for `violations`."""

    simulation: ClientSimulation
    steps: Sequence[Callable[[], object]]
    beside: set[str]
    """Keys of responses out of band."""

    def run(self) -> RandomClient:
        """Do all of it. What is refused is refused."""
        with self.simulation.running():
            for step in self.steps:
                with suppress(ControlError):
                    step()
            self.simulation.silence(SILENT_S)
            self.simulation.wait(SETTLES_S)
            self.kept = self.simulation.session.kept
        return self


def random_client(seed: int) -> RandomClient:
    """The client of `seed`; it has not begun."""
    rng = np.random.default_rng(seed)
    said = [_said(rng) for _ in range(rng.integers(1, 5))]
    costs = ModelCosts(
        stt_s=rng.uniform(0.02, 0.4),
        end_of_turn_s=rng.uniform(0.0, 0.1),
        first_token_s=rng.uniform(0.02, 0.6),
        token_s=rng.uniform(0.002, 0.05),
        tts_rtf=rng.uniform(0.01, 1.1),
        tts_first_s=rng.uniform(0.01, 0.3),
    )
    sentences = int(rng.integers(1, 7))
    answer = " ".join(f"This is sentence {n} of the answer, as it is." for n in range(sentences))
    share = 0.2 if rng.random() < 0.2 else 0.0

    def models(scripted: Models) -> Models:
        transcriber: Transcriber = FailingTranscriber(
            scripted.transcriber, iter(lambda: bool(rng.random() < share), None)
        )
        return replace(scripted, transcriber=transcriber)

    simulation = ClientSimulation(
        said, lambda _: answer, costs, hearing=_hearing(rng), models=models
    )
    client = RandomClient(simulation, [], set())
    numbers = itertools.count(1)
    steps: list[Callable[[], object]] = []
    for each in said:
        steps.append(_saying(simulation, each))
        steps += [_step(client, rng, numbers) for _ in range(rng.integers(0, 5))]
    client.steps = steps
    return client


def _said(rng: np.random.Generator) -> Said:
    over = rng.random() < 0.4
    words = str(rng.choice(OVERLAPS if over else QUESTIONS))
    seconds = 0.1 + 0.25 * len(words.split()) if over else rng.uniform(0.8, 1.6)
    said = Said(tone(seconds, rng.uniform(120, 240)), words)
    pauses = [(share, rng.uniform(0.1, 0.9)) for share in np.sort(rng.uniform(0.2, 0.8, 2))]
    return said if over else with_pauses(said, *pauses[: rng.integers(0, 3)])


def _hearing(rng: np.random.Generator) -> Hearing:
    detection = [
        ServerVad(silence_ms=int(rng.integers(200, 900))),
        ServerVad(idle_timeout_ms=5000),
        SemanticVad(),
        SemanticVad("high"),
        None,
    ][rng.integers(0, 5)]
    answers, interrupts = bool(rng.random() < 0.8), bool(rng.random() < 0.8)
    return Hearing(detection, answers=answers, interrupts=interrupts)


def _saying(client: ClientSimulation, said: Said) -> Callable[[], object]:
    return lambda: client.say(said)


def _step(
    client: RandomClient, rng: np.random.Generator, numbers: Iterator[int]
) -> Callable[[], object]:
    """Something that a client may do."""
    simulation, number = client.simulation, next(numbers)
    key = f"resp_c{number}"
    quiet_s = float(rng.uniform(0.0, 3.0))
    ms = int(rng.integers(0, 9000))
    hearing = _hearing(rng)
    spoken, known = bool(rng.random() < 0.7), float(rng.random())
    item = MessageItem(f"item_c{number}", "user", (TextPart(f"note {number}"),))

    def some_item() -> str:
        """An item that there was."""
        ids = [e.item_id for e in simulation.all(TurnCommitted)]
        ids += [answer_item_id(str(e.response.response_key)) for e in simulation.all(AnswerText)]
        return ids[int(known * len(ids))] if ids else "item_none"

    def ask() -> None:
        answering = replace(simulation.answering, spoken=spoken)
        simulation.session.respond(ResponseRequest(key, answering))

    def ask_beside() -> None:
        answering = replace(simulation.answering, spoken=spoken)
        request = ResponseRequest(key, answering, (item,), in_conversation=False)
        client.beside.add(key)
        simulation.session.respond(request)

    return (
        lambda: simulation.silence(quiet_s),
        lambda: simulation.silence(quiet_s),
        lambda: simulation.wait(quiet_s),
        ask,
        ask_beside,
        lambda: simulation.session.cancel(),
        lambda: simulation.session.truncate(some_item(), ms),
        lambda: simulation.session.retrieve(some_item()),
        lambda: simulation.session.delete(some_item()),
        lambda: simulation.session.insert(item, ROOT if spoken else None),
        lambda: simulation.session.set_hearing(hearing),
        lambda: simulation.session.commit(),
        lambda: simulation.session.clear_input(),
    )[rng.integers(0, 13)]


def client_violations(client: RandomClient) -> list[str]:
    """What went wrong in a session that was run; empty when nothing did."""
    told = client.simulation.told
    found = [
        *_responses(client),
        *_turns(client),
        *_words(client),
        *_interruptions(client),
        *_history(client),
    ]
    found += [
        f"channel {stage.inbox.name} held {stage.inbox.peak} of {stage.inbox.capacity}"
        for stage in client.simulation.session.stages
        if stage.inbox.peak > stage.inbox.capacity
    ]
    found += [f"thread {name} is left" for name in stages_alive()]
    times = [at_s for at_s, _ in told]
    if times != sorted(times):
        found.append("what was told went back in time")
    return found


def _responses(client: RandomClient) -> Iterator[str]:
    """Each begins once and ends once; nothing of it comes before or after."""
    told = client.simulation.told
    started = Counter(e.response.response_key for _, e in told if isinstance(e, ResponseStarted))
    ended = Counter(e.response.response_key for _, e in told if isinstance(e, ResponseDone))
    for key in started.keys() | ended.keys():
        if started[key] != 1 or ended[key] != 1:
            yield f"{key}: started {started[key]} times, ended {ended[key]} times"
    live: set[object] = set()
    for at_s, event in told:
        match event:
            case ResponseStarted(response=response):
                live.add(response)
            case ResponseDone(response=response):
                live.discard(response)
            case AnswerText() | ToolCalled() | ClientSound() if event.response not in live:
                yield f"{at_s:.3f}: {event.response} is told of while it is not open"
            case _:
                pass


def _turns(client: RandomClient) -> Iterator[str]:
    """A turn begins, ends and is committed, each once and in this order; or it is dropped."""
    states: dict[str, str] = {}
    for at_s, event in client.simulation.told:
        match event:
            case TurnBegan(item_id=item_id):
                if item_id in states:
                    yield f"{at_s:.3f}: {item_id} begins after it was {states[item_id]}"
                states[item_id] = "begun"
            case TurnEnded(item_id=item_id):
                if states.get(item_id) != "begun":
                    yield f"{at_s:.3f}: {item_id} ends after it was {states.get(item_id)}"
                states[item_id] = "dropped" if event.dropped else "ended"
            case TurnCommitted(item_id=item_id):
                if states.get(item_id, "ended") != "ended":
                    yield f"{at_s:.3f}: {item_id} is committed after it was {states[item_id]}"
                states[item_id] = "committed"
            case ResponseStarted(response=response):
                item_id = f"item_{response.turn_id}"
                if states.get(item_id, "committed") != "committed":
                    yield f"{at_s:.3f}: {item_id} is answered while it is {states[item_id]}"
            case _:
                pass
    yield from (f"{each} stays {how}" for each, how in states.items() if how in ("begun", "ended"))


def _words(client: RandomClient) -> Iterator[str]:
    """Of a committed turn all words come once, last; what is sure only grows."""
    finals: Counter[str] = Counter()
    stable: dict[str, str] = {}
    for at_s, event in client.simulation.told:
        match event:
            case TurnTranscriptFailed(item_id=item_id):
                finals[item_id] += 1
            case TurnTranscript(item_id=item_id, final=final):
                if finals[item_id]:
                    yield f"{at_s:.3f}: words of {item_id} come after all of them"
                if not final and not event.stable.startswith(stable.get(item_id, "")):
                    yield f"{at_s:.3f}: what was sure of {item_id} is not: {event.stable}"
                stable[item_id] = event.stable
                finals[item_id] += final
            case _:
                pass
    for committed in client.simulation.all(TurnCommitted):
        if finals[committed.item_id] != 1:
            yield f"{committed.item_id}: {finals[committed.item_id]} final transcripts"


def _interruptions(client: RandomClient) -> Iterator[str]:
    """That a turn began is told before what it interrupts ends; nothing interrupts what is beside
    the conversation."""
    begun: set[str] = set()
    began_s = -1.0
    for at_s, event in client.simulation.told:
        if isinstance(event, TurnBegan):
            began_s = at_s
            begun.add(event.item_id)
        elif isinstance(event, TurnEnded):
            begun.discard(event.item_id)
        elif isinstance(event, ResponseDone) and event.reason == "turn_detected":
            if event.response.response_key in client.beside:
                yield f"{at_s:.3f}: {event.response} was interrupted, beside the conversation"
            if at_s != began_s and not begun:
                yield f"{at_s:.3f}: {event.response} is interrupted by no turn"


def _history(client: RandomClient) -> Iterator[str]:
    """What the model is shown of an answer is the beginning of what was told of it."""
    told: dict[str, str] = {}
    for event in client.simulation.all(AnswerText):
        item_id = answer_item_id(str(event.response.response_key))
        told[item_id] = told.get(item_id, "") + event.text
    for key in client.beside:
        if answer_item_id(key) in _items(client):
            yield f"{key} is out of band, and in the history"
    for item_id, item in _items(client).items():
        if isinstance(item, MessageItem) and item.role == "assistant":
            whole = " ".join(told.get(item_id, "").split())
            if not whole.startswith(" ".join(item.text.split())):
                yield f"{item_id} holds '{item.text}', told was '{whole}'"
            if item.status == "in_progress":
                yield f"{item_id} stays in progress"


def _items(client: RandomClient) -> dict[str, object]:
    return {item.item_id: item for item in client.kept.conversation.items()}
