"""A model's three programs for ExecuTorch, made ahead of time where there is room to make them.

An export takes the whole package and several times the memory of the weights; what runs its files
takes only the runtime, on this machine or another one that they are copied to.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from s2s.tts.qwen3.checkpoint.codec_spec import read_codec_spec
from s2s.tts.qwen3.checkpoint.content_hash import codec_content_hash
from s2s.tts.qwen3.checkpoint.conversion import ConversionJob, Progress, convert_to, silent
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.errors import ConvertError
from s2s.tts.qwen3.executorch.codec import TokenizerSource, exported_codec
from s2s.tts.qwen3.executorch.delegates import XNNPACK, delegate_named
from s2s.tts.qwen3.executorch.quant import EXPORT_MIXES, export_quant
from s2s.tts.qwen3.executorch.weights import ExecutorchWeights
from s2s.tts.qwen3.folders import CONVERTED_FOLDER, GRAPHS_FOLDER

DEFAULT_EXPORT = "et-8"


@dataclass(frozen=True, slots=True)
class ExportWish:
    """What is to be exported. quant, predictor_quant: of `EXPORT_MIXES`; a delegate other than
    XNNPACK has one of its own, and takes no other. predictor_quant: None is the usual one."""

    source: str | Path
    quant: str = ""
    predictor_quant: str | None = None
    delegate: str = XNNPACK

    def weights(self) -> ExecutorchWeights:
        """Raises BackendError for a delegate that there is not, ConvertError for another
        quantisation than it has."""
        delegate = delegate_named(self.delegate).name
        quant = self.quant or export_quant(DEFAULT_EXPORT, delegate)
        found = EXPORT_MIXES.get(quant.lower())
        if found is None or found.delegate != delegate:
            able = ", ".join(n for n, mix in EXPORT_MIXES.items() if mix.delegate == delegate)
            raise ConvertError(f"an export for {delegate} is in {able}, not in {quant}")
        return ExecutorchWeights.of(quant, self.predictor_quant)


def export_model(wish: ExportWish, home: Path, progress: Progress = silent) -> tuple[Path, Path]:
    """The folder of talker and predictor, and the codec's program, where `open_model` finds them;
    what is there already is not made again.

    Raises Qwen3Error: BackendError without the package, ConvertError, and as `convert_to` does.
    """
    home = home.expanduser()
    job = ConversionJob(wish.source, home / CONVERTED_FOLDER, progress=progress)
    folder = convert_to(wish.weights(), job)
    tokenizer = folder / "speech_tokenizer"
    spec, tensors = read_codec_spec(tokenizer).decoder, Checkpoint(tokenizer)
    source = TokenizerSource(spec, tensors, codec_content_hash(tokenizer))
    delegate = delegate_named(wish.delegate).name
    return folder, exported_codec(source, home / GRAPHS_FOLDER, delegate)
