"""The options of Qwen3-TTS, what its short names of models stand for, and whether a voice fits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from s2s.core.setting import setting
from s2s.tts.backends.qwen3.languages import LANGUAGES
from s2s.tts.base import TtsError
from s2s.tts.qwen3 import Kind, ScheduleConfig
from s2s.tts.speech_time import MAX_NEW_TOKENS
from s2s.tts.tempo import Tempo

__all__ = [
    "LANGUAGES",
    "Qwen3Config",
    "check_voice",
    "full_name",
    "needs_a_voice",
]

_MOST_DB = 40
_ANY_RATE_HZ = 24_000


@dataclass(frozen=True, slots=True)
class Qwen3Config:
    """Options of Qwen3-TTS."""

    model: str = setting(
        "0.6b",
        "0.6b, 1.7b (the kind follows from voice and instruct), a published name such as "
        "1.7b-customvoice, a hub id, or a folder.",
    )
    quant: str = setting(
        "q4_k_m",
        "Of the talker: q4_k_m, q5_k_m, q6_k, q8_0, bf16, f32; int4, int4-128, int8 "
        "for onnx; mlx-4, mlx-6, mlx-8, mlx-bf16, mlx-f32 for mlx; fixed-f32, fixed-a16w8 for "
        "fixed; mnn-4, mnn-4-32, mnn-8, mnn-f32 for mnn; et-4, et-8, et-f32 for executorch.",
    )
    predictor_quant: str | None = setting(
        None, "Of the code predictor; None is eight bits, or better where quant is better."
    )
    voice: str | None = setting(
        None,
        "A trained speaker (aiden, ryan, vivian, ...) or an enrolled voice (see `voices add`); "
        "None is aiden where there are trained ones.",
    )
    language: str | None = setting(None, "ISO 639-1 code; None follows the conversation.")
    instruct: str | None = setting(
        None, "How to speak, or what voice to speak with. The 0.6b models ignore it."
    )
    streaming_text: bool | None = setting(
        None,
        "The text enters along with the sound, each word as it is written, instead of all of it "
        "before; None is as the model's authors do it.",
    )
    speed: float = setting(1.0, "1 is the voice's own pace, 2 twice as fast; 0.5 to 2.")
    volume_db: float = setting(0.0, "Louder above 0, in dB; loud places are bent, not cut off.")
    seed: int | None = setting(
        None, "The same text then always gives the same samples; None varies, as people do."
    )
    threads: int | None = setting(None, "None takes up to four, or fewer if that is faster here.")
    core: str = setting(
        "auto",
        "What computes the language model: native (needs a C compiler), onnx, ggml, ggml@gpu, "
        "mlx (Macs), fixed@cuda, fixed@coreml and the like (providers of ONNX Runtime, in graphs "
        "of fixed shapes; their options behind a colon), mnn, mnn@opencl and the like (MNN and its "
        "back ends), executorch (exported by `models export`); auto is the fastest that is "
        "installed, by measurement.",
    )
    talker: str | None = setting(None, "Another core for the talker alone.")
    predictor: str | None = setting(None, "Another core for the code predictor alone.")
    language_model: str | None = setting(
        None,
        "Talker and predictor together on a server, such as ws://kitchen:8765: a machine with "
        "`serve --tts qwen3 --codec-stream`, or vLLM-Omni with the talker alone. Codes come from "
        "there and become sound here. talker, predictor, core and quant are then the server's.",
    )
    language_model_name: str | None = setting(
        None, "Name of the model there, for servers that want one."
    )
    language_model_key_env: str = setting(
        "S2S_API_KEY", "Environment variable with the key of that server; unset: none is sent."
    )
    codec: str = setting(
        "auto",
        "Where codes become sound: native (needs a C compiler), onnx, or onnx on an accelerator by "
        "its name there, such as onnx@cuda; or fixed@coreml, mnn and the like, as core has them; "
        "auto is the fastest that is here, by measurement.",
    )
    draft_tokens: int | None = setting(
        None,
        "Codes drafted for each forward pass of the code predictor, which verifies them: other "
        "random numbers, the same distribution. None is what is fastest here, by measurement, "
        "and 0 where there is a seed.",
        formerly=("guesses",),
    )
    max_new_tokens: int = setting(
        MAX_NEW_TOKENS,
        "The most codec tokens (80 ms each) that a piece of text of up to 300 characters may take; "
        "most texts get fewer, by their length.",
    )
    initial_codec_chunk_frames: int | None = setting(
        None,
        "Frames of the first chunk, as vLLM-Omni's server does it: 1 there, 0 lets the load "
        "choose. Once this or one of the next three is given, chunks go by them and the server's "
        "defaults; else by what a frame costs on this machine.",
    )
    codec_chunk_frames: int | None = setting(
        None, "Frames of every later chunk, as the server does it: 25 there."
    )
    codec_chunk_ramp: tuple[int, ...] = setting(
        (),
        "Frames of the first chunks, as the server does it, such as 2,4,8,16; then "
        "codec_chunk_frames. Overrides the first one.",
    )
    codec_chunk_adaptive: bool | None = setting(
        None,
        "Chunks grow up to codec_chunk_frames with the sound that is unplayed, as the server does "
        "it. Overrides the first ones.",
    )
    codec_left_context_frames: int | None = setting(
        None,
        "Read so that a server's settings can be used as they are, without effect: the decoder "
        "keeps its state here and decodes no frame twice.",
    )

    def __post_init__(self) -> None:
        if self.max_new_tokens < 2:
            raise ValueError(
                f"max_new_tokens is {self.max_new_tokens}: at least 2, for a frame and the end"
            )
        Tempo(_ANY_RATE_HZ, self.speed)
        if not -_MOST_DB <= self.volume_db <= _MOST_DB:
            raise ValueError(f"volume_db is {self.volume_db}: from -{_MOST_DB} to {_MOST_DB}")
        self.server_schedule()  # a bad one is said now

    def server_schedule(self) -> ScheduleConfig | None:
        """The chunks as vLLM-Omni's server would cut them; None where none of its settings is
        given. Raises ValueError for sizes that cannot be."""
        first, steady = self.initial_codec_chunk_frames, self.codec_chunk_frames
        ramp, adaptive = self.codec_chunk_ramp, self.codec_chunk_adaptive
        if first is None and steady is None and not ramp and adaptive is None:
            return None
        server = ScheduleConfig()
        return ScheduleConfig(
            initial_codec_chunk_frames=(
                server.initial_codec_chunk_frames if first is None else first
            ),
            codec_chunk_frames=server.codec_chunk_frames if steady is None else steady,
            codec_chunk_ramp=ramp,
            codec_chunk_adaptive=bool(adaptive),
        )


def full_name(model: str, enrolled: bool, instruct: bool) -> str:
    """What "0.6b" and "1.7b" stand for: the kind that the wanted voice needs."""
    if model.lower() not in {"0.6b", "1.7b"}:
        return model
    if enrolled:
        return f"{model}-base"
    return (
        f"{model}-voicedesign" if instruct and model.lower() == "1.7b" else f"{model}-customvoice"
    )


def check_voice(config: Qwen3Config, name: str, home: Path, enrolled: list[str]) -> None:
    """Raise TtsError where the voice cannot be spoken with, before anything is fetched."""
    from s2s.tts.qwen3 import foresee

    found = foresee(name, home)
    if found is None:  # only what is on this machine, or published, is known
        return
    if found.kind is Kind.BASE and config.voice not in enrolled:
        if config.voice is None:
            raise TtsError(needs_a_voice(name, enrolled))
        raise TtsError(f"qwen3: no enrolled voice {config.voice!r}. {_how_to_get_one(enrolled)}")
    if found.kind is Kind.CUSTOM_VOICE and config.voice is not None:
        speakers = found.speakers
        if config.voice.lower() not in speakers:
            raise TtsError(
                f"qwen3: unknown voice {config.voice!r}; known: {', '.join(sorted(speakers))}. "
                f"{_how_to_get_one(enrolled)}"
            )


def needs_a_voice(model: str, enrolled: Sequence[str]) -> str:
    """What to do for a model that only clones."""
    return f"qwen3: {model} clones voices and has none of its own. {_how_to_get_one(enrolled)}"


def _how_to_get_one(enrolled: Sequence[str]) -> str:
    known = ", ".join(enrolled) or "none yet"
    return (
        f"Choose one with --voice (enrolled: {known}), or make one: python -m s2s voices add NAME "
        "--audio FILE --text TRANSCRIPT (or --record in place of --audio FILE)"
    )
