"""The base of what a stage's model may raise. Knows nothing about any stage."""

from __future__ import annotations


class StageError(RuntimeError):
    """A stage cannot do its work. The message is for the user: what happened and what to do.

    `SttError`, `LlmError` and `TtsError` are the stages' own; a library below a stage, such as
    ``tts/qwen3``, has one more. Any other exception out of a stage is a defect of the program.
    """
