"""Parts of the page of a conversation: its turns, where their time went, what was dropped. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from s2s.core.metrics import Point
from s2s.records.stages import STAGES, StageTime, stages_of
from s2s.records.story import GivenAnswer, SaidTurn, Story


def moment(seconds: float) -> str:
    """A time of the conversation: 3:07.4, or 1:03:07.4."""
    tenths = max(0, round(seconds * 10))
    minutes, rest = divmod(tenths, 600)
    hours, minutes = divmod(minutes, 60)
    shown = f"{rest // 10:02}.{rest % 10}"
    return f"{hours}:{minutes:02}:{shown}" if hours else f"{minutes}:{shown}"


def legend(points: Sequence[Point]) -> str:
    """What the colours of the bars mean."""
    items = "".join(
        f'<li><span class="swatch" style="background:var(--{point})"></span>{STAGES[point]}</li>'
        for point in points
    )
    return f'<ul class="legend">{items}</ul>'


def turn_items(story: Story) -> Iterator[str]:
    """The turns in order, each with its answers; then answers that nobody asked for."""
    longest_ms = max(
        [
            answer.timeline.latency_ms or 0.0
            for answer in story.answers
            if answer.timeline is not None
        ],
        default=0.0,
    )
    known = {turn.turn_id for turn in story.turns}
    for turn in story.turns:
        answers = story.answers_to(turn)
        yield _item(turn.began_s, _said(turn), [_answer(each, longest_ms) for each in answers])
    for answer in story.answers:
        if answer.response.turn_id not in known:
            yield _item(answer.began_s, "", [_answer(answer, longest_ms)])


def bar(stages: Sequence[StageTime], longest_ms: float) -> str:
    """The stages of an answer as one bar; the longest answer of all fills the width."""
    total_ms = sum(stage.ms for stage in stages)
    if not total_ms:
        return ""
    parts = "".join(
        f'<span style="width:{100 * stage.ms / total_ms:.2f}%;background:var(--{stage.point})" '
        f'title="{STAGES[stage.point]}: {stage.ms:.0f} ms"></span>'
        for stage in stages
    )
    spoken = ", ".join(f"{STAGES[stage.point]} {stage.ms:.0f} ms" for stage in stages)
    share = 100 * total_ms / max(longest_ms, total_ms)
    return (
        f'<div class="bar" role="img" aria-label="{spoken}" style="width:{share:.2f}%">'
        f'{parts}</div><span class="ms">{total_ms:.0f} ms</span>'
    )


def dropped_section(story: Story) -> str:
    """What was not answered, taken back, interrupted or failed, and why."""
    marks = [
        mark
        for mark in story.marks
        if mark.kind in ("dropped", "taken back", "failed", "interruption")
    ]
    silent = [turn for turn in story.turns if turn.unanswered]
    if not marks and not silent:
        return ""
    rows = [(mark.at_s, mark.text, mark.detail) for mark in marks]
    told = {turn.unanswered for turn in silent if any(turn.unanswered in m.detail for m in marks)}
    rows += [
        (turn.began_s, "not answered", f"{turn.unanswered}: {turn.text}".rstrip(": "))
        for turn in silent
        if turn.unanswered not in told
    ]
    items = "".join(
        f"<tr><td>{_button(at_s)}</td><td>{escape(what)}</td><td>{escape(why)}</td></tr>"
        for at_s, what, why in sorted(rows)
    )
    head = "<tr><th>when</th><th>what</th><th>why</th></tr>"
    title = "<h2>Interrupted, dropped, taken back</h2>"
    return f'{title}<table class="moments">{head}{items}</table>'


def _item(at_s: float, said: str, answers: Sequence[str]) -> str:
    answered = "".join(answers) or '<span class="outcome">no answer</span>'
    return (
        f'<li class="turn">{_button(at_s)}<div class="said">{said}</div>'
        f'<div class="answer">{answered}</div></li>'
    )


def _button(at_s: float) -> str:
    return f'<button type="button" class="when" data-at="{at_s:.2f}">{moment(at_s)}</button>'


def _said(turn: SaidTurn) -> str:
    words = escape(turn.text.strip()) or '<span class="faint">(no words)</span>'
    why = f'<p class="outcome bad">{escape(turn.unanswered)}</p>' if turn.unanswered else ""
    return f"<b>You</b> {words}{why}"


def _answer(answer: GivenAnswer, longest_ms: float) -> str:
    played, whole = answer.played.strip(), answer.text.strip()
    heard, rest = (whole or played, "") if answer.status == "completed" else (played, "")
    if answer.status != "completed":
        rest = whole[len(played) :] if whole.startswith(played) else ""
    unplayed = f'<span class="unplayed" title="not heard">{escape(rest)}</span>' if rest else ""
    outcome = ""
    if answer.status != "completed":
        why = f": {answer.why}" if answer.why else ""
        outcome = f'<p class="outcome bad">{escape(answer.status + why)}</p>'
    stages = stages_of(answer.timeline) if answer.timeline is not None else []
    return f"<div><b>Answer</b> {escape(heard)}{unplayed}{outcome}{bar(stages, longest_ms)}</div>"
