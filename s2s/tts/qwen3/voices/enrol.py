"""From a recording to an enrolled voice, with the encoders of a Base checkpoint."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from s2s.tts.qwen3.checkpoint.codec_shapes import encoder_shapes
from s2s.tts.qwen3.checkpoint.codec_spec import check_pair, read_codec_spec
from s2s.tts.qwen3.checkpoint.content_hash import codec_content_hash, voice_content_hash
from s2s.tts.qwen3.checkpoint.fields import Fields
from s2s.tts.qwen3.checkpoint.hub import find_checkpoint
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import Config, Kind, Spec, read_json, read_spec
from s2s.tts.qwen3.codec.decoder import CheckpointDecoder, CodecState
from s2s.tts.qwen3.codec.open import open_decoder
from s2s.tts.qwen3.errors import CodecError, VoiceError
from s2s.tts.qwen3.folders import CONVERTED_FOLDER, GRAPHS_FOLDER, VOICES_FOLDER
from s2s.tts.qwen3.interfaces import CodecEncoder, Floats, SpeakerEncoder
from s2s.tts.qwen3.onnx.codec_graph import CODEC_GRAPHS_VERSION
from s2s.tts.qwen3.voices.codec_encoder import OnnxCodecEncoder
from s2s.tts.qwen3.voices.mel import RATE_HZ as VOICE_RATE_HZ
from s2s.tts.qwen3.voices.recording import check_reference
from s2s.tts.qwen3.voices.speaker_encoder import (
    OnnxSpeakerEncoder,
    SpeakerEncoderSpec,
    speaker_shapes,
)
from s2s.tts.qwen3.voices.store import (
    Voice,
    VoiceEntry,
    WarmStart,
    list_voices,
    save_voice,
    voice_path,
)

APPENDED_SILENCE_S = 0.5
"""Appended to the recording before it becomes codes, so that the first word of the answer does not
begin with the last sound of the reference (faster-qwen3-tts, pull request 9)."""


def warm_start(decoder: CheckpointDecoder, voice: Voice) -> CodecState:
    """The decoder's state from which the voice goes on: after its reference, or a new one for a
    voice without codes. Fork it for each utterance."""
    kept = voice.warm_start
    if kept is not None and voice.codes is not None and kept.version == CODEC_GRAPHS_VERSION:
        try:
            return decoder.restore(kept.tensors, len(voice.codes))
        except ValueError as error:
            raise VoiceError(
                f"the voice {voice.name!r} is damaged: {error}; enrol it again"
            ) from error
    state = decoder.new_state()
    if voice.codes is not None:
        decoder.decode(state, voice.codes)
    return state


@dataclass(frozen=True, slots=True)
class Enrolment:
    """What it takes to enrol voices for one model."""

    model: str
    content_hash: str
    speaker: SpeakerEncoder
    codec: CodecEncoder
    decoder: CheckpointDecoder

    @classmethod
    def open(cls, folder: Path, cache: Path, *, threads: int = 1) -> Enrolment:
        """From a checkpoint folder in the official layout; graphs are built on first use.

        Raises VoiceError for a model that does not clone voices, and CodecError,
        CheckpointError or SpecError for files that cannot be used.
        """
        spec, config = read_spec(folder), read_json(folder / "config.json")
        encoder_spec = _speaker_spec(folder, spec, config)
        codec_folder = folder / "speech_tokenizer"
        codec_spec = read_codec_spec(codec_folder)
        check_pair(spec, codec_spec, codec_folder / "config.json")
        weights, codec_weights = Checkpoint(folder), Checkpoint(codec_folder)
        weights.require(speaker_shapes(encoder_spec))
        codec_weights.require(encoder_shapes(codec_spec.encoder))
        codec_key = codec_content_hash(codec_folder)
        key = voice_content_hash(folder)
        return cls(
            model=f"{spec.size} {spec.kind.value}",
            content_hash=key,
            speaker=OnnxSpeakerEncoder.open(encoder_spec, weights, cache, key, threads=threads),
            codec=OnnxCodecEncoder.open(
                codec_spec.encoder, codec_weights, cache, codec_key, threads=threads
            ),
            decoder=open_decoder(codec_folder, cache, threads=threads),
        )

    def enrol(self, name: str, pcm: Floats, text: str = "") -> tuple[Voice, list[str]]:
        """A voice from float32 [samples], mono, 24 kHz, and warnings about the recording.

        text: all that is said in it. Without it the voice is cloned from its vector alone.
        Raises VoiceError when no voice can be made of it.
        """
        text = text.strip()
        try:
            warnings = check_reference(pcm, VOICE_RATE_HZ, text)
            speaker = self.speaker.embed(pcm)
        except ValueError as error:
            raise VoiceError(f"no voice {name!r} can be made: {error}") from error
        seconds = len(pcm) / VOICE_RATE_HZ
        voice = Voice(name, self.model, self.content_hash, speaker, seconds)
        if not text:
            return voice, warnings
        silence = np.zeros(int(APPENDED_SILENCE_S * VOICE_RATE_HZ), dtype=np.float32)
        codes = self.codec.encode(np.concatenate([pcm, silence]))
        state = self.decoder.new_state()
        self.decoder.decode(state, codes)
        after = WarmStart(CODEC_GRAPHS_VERSION, self.decoder.export(state))
        voice = Voice(name, self.model, self.content_hash, speaker, seconds, codes, text, after)
        return voice, warnings


def open_speaker_encoder(model: str, home: Path, *, threads: int = 1) -> SpeakerEncoder:
    """What makes a vector of a recording: of a Base checkpoint, by folder, name or hub id.

    Raises Qwen3Error, VoiceError for a model that has none.
    """
    folder = find_checkpoint(model, home / CONVERTED_FOLDER)
    spec, config = read_spec(folder), read_json(folder / "config.json")
    encoder_spec, weights = _speaker_spec(folder, spec, config), Checkpoint(folder)
    weights.require(speaker_shapes(encoder_spec))
    return OnnxSpeakerEncoder.open(
        encoder_spec, weights, home / GRAPHS_FOLDER, voice_content_hash(folder), threads=threads
    )


@dataclass(frozen=True, slots=True)
class EnrolledVoice:
    """A voice that was made and kept."""

    voice: Voice
    path: Path
    warnings: tuple[str, ...]
    """About the recording."""


def enrol_voice(
    name: str, pcm: Floats, text: str, *, model: str, home: Path, threads: int = 1
) -> EnrolledVoice:
    """Make a voice for a Base model from a recording and keep it in ``home``.

    pcm: float32 [samples], mono, at `VOICE_RATE_HZ`. text: all that is said in it, or "".
    Raises Qwen3Error.
    """
    folder = find_checkpoint(model, home / CONVERTED_FOLDER)
    enrolment = Enrolment.open(folder, home / GRAPHS_FOLDER, threads=threads)
    voice, warnings = enrolment.enrol(name, pcm, text)
    return EnrolledVoice(voice, save_voice(voice, home / VOICES_FOLDER), tuple(warnings))


def enrolled_voices(home: Path) -> list[VoiceEntry]:
    """Every voice that is kept in ``home``, whatever model it is for."""
    return list_voices(home / VOICES_FOLDER)


def enrolled_voice_path(home: Path, name: str) -> Path:
    """The file of the voice ``name`` in ``home``, whether there is one or not.

    Raises VoiceError for what is no name of a voice.
    """
    return voice_path(name, home / VOICES_FOLDER)


def _speaker_spec(folder: Path, spec: Spec, config: Config) -> SpeakerEncoderSpec:
    read = Fields(config, str(folder / "config.json"), error=CodecError)
    if spec.kind is not Kind.BASE or not read.has("speaker_encoder_config"):
        raise VoiceError(
            f"{folder} is a {spec.kind.value} model without a speaker encoder; "
            "voices are cloned with a Base model"
        )
    encoder = SpeakerEncoderSpec.from_fields(read.section("speaker_encoder_config"))
    if encoder.width != spec.talker.hidden:
        raise VoiceError(
            f"{folder}: its speaker encoder gives {encoder.width} values, "
            f"its talker takes {spec.talker.hidden}"
        )
    return encoder
