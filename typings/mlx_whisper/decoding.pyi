from dataclasses import dataclass

from mlx.core import array
from mlx_whisper.whisper import Whisper

@dataclass(frozen=True)
class DecodingOptions:
    language: str | None = None
    prompt: str | None = None
    without_timestamps: bool = False
    fp16: bool = True

@dataclass(frozen=True)
class DecodingResult:
    language: str
    language_probs: dict[str, float] | None
    text: str
    avg_logprob: float
    no_speech_prob: float
    compression_ratio: float

def decode(model: Whisper, mel: array, options: DecodingOptions = ...) -> DecodingResult: ...
