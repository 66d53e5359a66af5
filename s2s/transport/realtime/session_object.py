"""The session as it is, and how an update changes it.

Only names that are present change something: "" and [] clear a text or list, null clears or brings
the default back. `audio.input` and `audio.output` are merged name by name; what is inside of them
(turn detection, transcription, formats) and tools are replaced as a whole. An update that cannot be
obeyed changes nothing.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from s2s.core.untyped import is_object
from s2s.transport.realtime import faults
from s2s.transport.realtime.limits import Limits
from s2s.transport.realtime.wire.audio_formats import PCM_RATE_HZ, PcmFormat, WireFormat
from s2s.transport.realtime.wire.parse import parse_settings
from s2s.transport.realtime.wire.settings import (
    InputAudioSettings,
    NamedVoice,
    OutputAudioSettings,
    RealtimeSettings,
    SessionSettings,
    Tool,
    TranscribingSettings,
)

SessionKind = Literal["realtime", "transcription"]

_DEFAULT_FORMAT: dict[str, object] = {"type": "audio/pcm", "rate": PCM_RATE_HZ}
_DEFAULT_INPUT: dict[str, object] = {
    "format": _DEFAULT_FORMAT,
    "transcription": None,
    "noise_reduction": None,
}
_SERVER_VAD: dict[str, object] = {
    "type": "server_vad",
    "threshold": 0.5,
    "prefix_padding_ms": 300,
    "silence_duration_ms": 200,
    "idle_timeout_ms": None,
    "create_response": True,
    "interrupt_response": True,
}
"""As the real service echoes it; its documents say 500 ms of silence."""
_SEMANTIC_VAD: dict[str, object] = {
    "type": "semantic_vad",
    "eagerness": "auto",
    "create_response": True,
    "interrupt_response": True,
}
_READ_ONLY = ("type", "object", "id", "expires_at")


@dataclass(frozen=True, slots=True)
class SessionDefaults:
    """What holds until a client says otherwise."""

    model: str
    voice: str
    instructions: str
    voices: frozenset[str] = frozenset()
    """Those there are. Another name is echoed, and spoken by the default voice."""
    model_named: bool = False
    """The client asked for `model` as it connected, and keeps it. Another name is no error: some
    clients send one of their own in every update, whatever they connected with."""


class SessionObject:
    """The effective session of one client."""

    def __init__(
        self,
        session_id: str,
        defaults: SessionDefaults,
        *,
        expires_at: int,
        kind: SessionKind = "realtime",
        limits: Limits | None = None,
    ) -> None:
        self.session_id = session_id
        self.defaults = defaults
        self.kind: SessionKind = kind
        self._limits = limits or Limits()
        self._expires_at = expires_at
        self._voice_fixed = False
        self._kind_fixed = False
        self._values = self._fresh(kind)
        self.settings = parse_settings(self._values)
        self.changes = 0
        """Grows whenever `written` gives something else."""

    # --- for another process -----------------------------------------------------------------

    def written(self) -> dict[str, object]:
        """All of it as plain values of JSON; `restored` makes it again."""
        return {
            "values": self.echo(),
            "model_named": self.defaults.model_named,
            "voice_fixed": self._voice_fixed,
            "kind_fixed": self._kind_fixed,
        }

    @classmethod
    def restored(
        cls, written: Mapping[str, object], defaults: SessionDefaults, limits: Limits | None = None
    ) -> SessionObject:
        """The session of which `written` is; `defaults` are those of this process.

        Raises:
            ValueError: it is something else.
        """
        values = written.get("values")
        if not is_object(values):
            raise ValueError("a session without its values")
        session_id, kind, expires_at = (values.get(name) for name in ("id", "type", "expires_at"))
        if not isinstance(session_id, str) or not isinstance(expires_at, int):
            raise ValueError("a session without an id, or without its end")
        if kind not in ("realtime", "transcription"):
            raise ValueError("a session of an unknown kind")
        named = written.get("model_named") is True
        made = cls(
            session_id,
            replace(defaults, model_named=named),
            expires_at=expires_at,
            kind="realtime" if kind == "realtime" else "transcription",
            limits=limits,
        )
        made._values = values
        made.settings = parse_settings(values)
        made._voice_fixed = written.get("voice_fixed") is True
        made._kind_fixed = written.get("kind_fixed") is True
        return made

    # --- what it is --------------------------------------------------------------------------

    @property
    def short_id(self) -> str:
        """Part of every other id: of items, responses, calls."""
        return self.session_id.removeprefix("sess_")

    def echo(self) -> dict[str, object]:
        """The whole of it, as `session.created` and `session.updated` tell it."""
        return copy.deepcopy(self._values)

    @property
    def heard(self) -> InputAudioSettings:
        """`audio.input`"""
        audio = self.settings.audio
        return (audio.input if audio else None) or InputAudioSettings()

    @property
    def spoken(self) -> OutputAudioSettings:
        """`audio.output`"""
        return _output(self.settings)

    @property
    def input_format(self) -> WireFormat:
        return self.heard.format or PcmFormat()

    @property
    def output_format(self) -> WireFormat:
        return self.spoken.format or PcmFormat()

    @property
    def voice(self) -> str:
        """The name of the voice, whether there is one of this name or not."""
        return voice_name(self.spoken.voice) or self.defaults.voice

    # --- how it changes ------------------------------------------------------------------------

    def sound_was_sent(self) -> None:
        """The assistant has been heard: the voice stays."""
        self.changes += not self._voice_fixed
        self._voice_fixed = True

    def was_used(self) -> None:
        """Something was heard, said or asked: the kind of session stays."""
        self.changes += not self._kind_fixed
        self._kind_fixed = True

    def update(self, given: SessionSettings) -> None:
        """Take over what is present in `given`.

        Raises:
            ClientFault: it cannot be; nothing has changed.
        """
        if given.type != self.kind and self._kind_fixed:
            raise faults.kind_is_fixed(self.kind)
        fresh = self._fresh(given.type)
        values = self.echo() if given.type == self.kind else copy.deepcopy(fresh)
        for name, value in given.written().items():
            if name == "audio":
                _merge_audio(values, value, fresh)
            elif name not in _READ_ONLY and not (name == "model" and self.defaults.model_named):
                values[name] = fresh.get(name) if value is None else value
        merged = parse_settings(values)
        self._check(given, merged)
        _write_out(values)
        self.kind = given.type
        self._values = values
        self.settings = parse_settings(values)
        self.changes += 1

    def _check(self, given: SessionSettings, merged: SessionSettings) -> None:
        if isinstance(given, TranscribingSettings):
            return
        voice = voice_name(_output(merged).voice)
        if self._voice_fixed and voice != self.voice:
            raise faults.voice_is_fixed(self.voice)
        before, after = self._values.get("tracing"), given.written().get("tracing")
        if before is not None and after is not None and after != before:
            raise faults.tracing_is_fixed()
        check_texts(given.instructions, given.tools, self._limits, "session")

    def _fresh(self, kind: SessionKind) -> dict[str, object]:
        """A session in which nothing was changed."""
        realtime = kind == "realtime"
        values: dict[str, object] = {
            "type": kind,
            "object": "realtime.session" if realtime else "realtime.transcription_session",
            "id": self.session_id,
            "expires_at": self._expires_at,
        }
        audio: dict[str, object] = {"input": {**_DEFAULT_INPUT, "turn_detection": _SERVER_VAD}}
        if realtime:
            values |= {
                "model": self.defaults.model,
                "output_modalities": ["audio"],
                "instructions": self.defaults.instructions,
                "tools": [],
                "tool_choice": "auto",
                "max_output_tokens": "inf",
                "tracing": None,
                "truncation": "auto",
                "prompt": None,
            }
            audio["output"] = {
                "format": _DEFAULT_FORMAT,
                "voice": self.defaults.voice,
                "speed": 1.0,
            }
        return copy.deepcopy(values | {"include": None, "audio": audio})


def check_texts(
    instructions: str | None, tools: list[Tool] | None, limits: Limits, path: str
) -> None:
    """Refuse what is too long.

    Raises:
        ClientFault: it is.
    """
    if instructions and len(instructions) > limits.text_chars:
        found, at = len(instructions), f"{path}.instructions"
        raise faults.too_much("a text", found, limits.text_chars, at)
    if tools and len(tools) > limits.tools:
        raise faults.too_much("a list", len(tools), limits.tools, f"{path}.tools")


def checked_session(value: Mapping[str, object], fresh: SessionObject) -> dict[str, object]:
    """The whole session that these settings of a client secret would be.

    Raises:
        SessionFieldError: they cannot be.
    """
    fresh.update(parse_settings(dict(value)))
    return fresh.echo()


def voice_name(voice: str | NamedVoice | None) -> str | None:
    """A voice as a name, however it was written."""
    return voice.id if isinstance(voice, NamedVoice) else voice


def _output(settings: SessionSettings) -> OutputAudioSettings:
    audio = settings.audio if isinstance(settings, RealtimeSettings) else None
    return (audio.output if audio else None) or OutputAudioSettings()


def _merge_audio(values: dict[str, object], given: object, fresh: dict[str, object]) -> None:
    """Merge `audio.input` and `audio.output` name by name; null brings the defaults back."""
    audio, defaults = values["audio"], fresh["audio"]
    assert is_object(audio)
    assert is_object(defaults)
    if not is_object(given):
        values["audio"] = defaults
        return
    for side, changes in given.items():
        before, default = audio[side], defaults[side]
        assert is_object(before)
        assert is_object(default)
        if not is_object(changes):
            audio[side] = default
            continue
        for name, value in changes.items():
            is_cleared = value is None and name != "turn_detection"
            before[name] = default[name] if is_cleared else value


def _write_out(values: dict[str, object]) -> None:
    """Write what clients need written: all of turn detection, the rate, the voice as its name."""
    audio = values["audio"]
    assert is_object(audio)
    for side in audio.values():
        assert is_object(side)
        found = side.get("format")
        if is_object(found) and found["type"] == "audio/pcm":
            side["format"] = _DEFAULT_FORMAT | found
        voice = side.get("voice")
        if is_object(voice):
            side["voice"] = voice["id"]
        detection = side.get("turn_detection")
        if is_object(detection):
            defaults = _SERVER_VAD if detection["type"] == "server_vad" else _SEMANTIC_VAD
            given = {name: value for name, value in detection.items() if value is not None}
            side["turn_detection"] = defaults | given
