"""What was said when, and the forms in which clients want it. Knows no model and no HTTP."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from s2s.stt.base import TimedWord
from s2s.stt.word_times import shared


@dataclass(frozen=True, slots=True)
class SaidSegment:
    """A stretch of speech without a long pause, and its words."""

    text: str
    start_s: float
    end_s: float
    language: str | None = None
    mean_log_prob: float | None = None

    timed: tuple[TimedWord, ...] = ()
    """Its words, where the recogniser told when they were said."""

    def words(self) -> tuple[TimedWord, ...]:
        """Its words; where the recogniser told no times the segment's, which lasts some seconds, is
        shared among them by their lengths."""
        return self.timed or shared(self.text, self.start_s, self.end_s)


def a_word_each(segments: Iterable[SaidSegment]) -> list[SaidSegment]:
    """The words as segments of their own."""
    return [
        SaidSegment(word.text, word.start_s, word.end_s)
        for each in segments
        for word in each.words()
    ]


def whole_text(segments: Iterable[SaidSegment]) -> str:
    """All that was said."""
    return " ".join(segment.text for segment in segments if segment.text)


def srt(segments: Sequence[SaidSegment]) -> str:
    """SubRip subtitles."""
    blocks = [
        f"{number}\n{_clock(each.start_s, ',')} --> {_clock(each.end_s, ',')}\n{each.text}\n"
        for number, each in enumerate(segments, 1)
    ]
    return "\n".join(blocks)


def vtt(segments: Sequence[SaidSegment]) -> str:
    """WebVTT subtitles."""
    blocks = [
        f"{_clock(each.start_s, '.')} --> {_clock(each.end_s, '.')}\n{_plain(each.text)}\n"
        for each in segments
    ]
    return "\n".join(["WEBVTT\n", *blocks])


def verbose(
    segments: Sequence[SaidSegment], duration_s: float, language: str | None, *, words: bool
) -> dict[str, object]:
    """The `verbose_json` of the API."""
    told: dict[str, object] = {
        "task": "transcribe",
        "language": language or "",
        "duration": round(duration_s, 3),
        "text": whole_text(segments),
        "segments": [
            {
                "id": number,
                "seek": 0,
                "start": round(each.start_s, 3),
                "end": round(each.end_s, 3),
                "text": each.text,
                "tokens": [],
                "temperature": 0.0,
                "avg_logprob": each.mean_log_prob or 0.0,
                "compression_ratio": 1.0,
                "no_speech_prob": 0.0,
            }
            for number, each in enumerate(segments)
        ],
        "usage": usage(duration_s),
    }
    if words:
        told["words"] = [
            {"word": word.text, "start": round(word.start_s, 3), "end": round(word.end_s, 3)}
            for each in segments
            for word in each.words()
        ]
    return told


def usage(duration_s: float) -> dict[str, object]:
    """What it took, as a server that counts no tokens tells it."""
    return {"type": "duration", "seconds": round(duration_s, 3)}


def _clock(seconds: float, point: str) -> str:
    ms = round(1000 * seconds)
    minutes, ms = divmod(ms, 60_000)
    return f"{minutes // 60:02}:{minutes % 60:02}:{ms // 1000:02}{point}{ms % 1000:03}"


def _plain(text: str) -> str:
    """`text` as WebVTT takes it: no signs of its markup."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
