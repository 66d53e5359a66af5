"""What this library raises: all of it is a `VitsError`. The message says what to do."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from s2s.core.errors import StageError
from s2s.models.onnx_file import OnnxFileError
from s2s.system.onnx import is_runtime_error


class VitsError(StageError):
    """A voice that cannot be loaded, or cannot say something."""


class VitsFileError(VitsError):
    """A file that is no usable ONNX model. The message names the file and the reason."""


class CutError(VitsError):
    """The graph has no such part. The message says what was looked for."""


class VitsVoiceError(VitsError):
    """A voice that can't be used. The message names the file or field and what to do."""


class SpeechError(VitsError):
    """The voice could not say this. The message says why."""


@contextmanager
def model_file_errors() -> Generator[None, None, None]:
    """A file that the reader of the ONNX format, or ONNX Runtime, refuses meanwhile is a
    `VitsFileError`."""
    try:
        yield
    except OnnxFileError as error:
        raise VitsFileError(str(error)) from error
    except Exception as error:  # those of onnxruntime have no base of their own
        if is_runtime_error(error):
            raise VitsFileError(
                f"not a voice that can be used; fetch it again ({error})"
            ) from error
        raise
