"""What this package raises when it cannot do what is asked: one class above all, one a cause.

Every message is for the user: it says what happened, with the value, and what to do. Any other
exception out of this package is a mistake of the caller (ValueError) or a defect.
"""

from __future__ import annotations

from pathlib import Path

from s2s.core.errors import StageError


class Qwen3Error(StageError):
    """Qwen3-TTS cannot do what is asked."""


class ModelFileError(Qwen3Error):
    """A file of a model, a cache or a voice that cannot be used: cut off, odd or hostile.

    The message says which file, which field or tensor of it, its value, and what to do.
    """

    def __init__(
        self, problem: str, *, file: str | Path = "", field: str = "", advice: str = ""
    ) -> None:
        """problem: goes on from the field ("is 3; ..."), or is the whole message."""
        place = f"{file}: " if file else ""
        subject = f"{field} " if field else ""
        super().__init__(f"{place}{subject}{problem}" + (f"; {advice}" if advice else ""))
        self.file = str(file)
        self.field = field


class BackendError(Qwen3Error):
    """A backend that is not there or cannot do what is asked."""


class KernelError(BackendError):
    """There is no compiled kernel on this machine, or it cannot compute this checkpoint."""


class LlamaError(BackendError):
    """The llama.cpp library is missing or refused what it was asked, in its own words."""


class OnnxError(BackendError, ModelFileError):
    """Graphs that cannot be used, or no ONNX Runtime."""


class ProviderError(OnnxError):
    """A provider of ONNX Runtime that is not there, or cannot take a graph. The message is the
    reason, which goes into the log and the start line."""


class MnnError(BackendError, ModelFileError):
    """Files of MNN that cannot be made or used, a back end that is not there, or no MNN."""


class ExecutorchError(BackendError, ModelFileError):
    """An exported program that cannot be used."""


class RemoteLanguageError(Qwen3Error):
    """The language model on a server cannot be had, was lost, or refused what it was asked."""


class HubError(Qwen3Error):
    """A checkpoint that is not to be had."""


class CheckpointError(ModelFileError):
    """A weight file that cannot be used."""


class GGUFError(CheckpointError):
    """A file that is not a whole GGUF file, or not one this project can use."""


class WeightError(CheckpointError):
    """A weight that is no finite number. The message names the tensor."""


class SoundError(Qwen3Error):
    """An answer that holds what is no finite number: nothing of it from there on is given out."""


class SpecError(ModelFileError):
    """A config that is not one of a Qwen3-TTS 12 Hz model. The message names the field."""


class CodecError(ModelFileError):
    """A speech tokenizer that cannot be used."""


class ConvertError(Qwen3Error, ValueError):
    """A conversion that cannot be done, or a quantisation that there is not."""


class PromptError(Qwen3Error, ValueError):
    """A request this model cannot speak. The message says what can be asked instead."""


class RecordingError(Qwen3Error, ValueError):
    """A recording no voice can be made from."""


class VoiceError(ModelFileError, ValueError):
    """A voice that cannot be used. The message names it."""
