"""Talker and code predictor of a checkpoint, each where it is to be computed."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from s2s.tts.qwen3.backend import Core, DevicePlacement, DraftingPredictor, Quants, Setting
from s2s.tts.qwen3.backends import quant_on
from s2s.tts.qwen3.checkpoint.conversion import ConversionJob, Progress, silent
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.checkpoint.tables import TableEmbeddings, open_tables
from s2s.tts.qwen3.engine.language_model import LanguageModel
from s2s.tts.qwen3.folders import CONVERTED_FOLDER, KERNEL_FOLDER
from s2s.tts.qwen3.interfaces import PredictorState, State


@dataclass(frozen=True, slots=True)
class LoadedLanguage:
    """A language model, and what it was made from."""

    folder: Path
    """The converted checkpoint (the talker's, where there are two)."""
    language: LanguageModel[State, PredictorState]
    talker: DevicePlacement
    predictor: DevicePlacement
    quants: Quants
    """As computed."""
    cores: tuple[Core, ...]
    """One, or one for each part."""
    drafting: DraftingPredictor[PredictorState]

    def use_draft_tokens(self, draft_tokens: int) -> None:
        """So many draft tokens are verified in each predictor pass, from the next frame on."""
        self.drafting.draft_tokens = draft_tokens

    def use_threads(self, threads: int) -> bool:
        """So many threads compute from the next frame on; False where their number is fixed: in
        some backends, and where two share the work."""
        return len(self.cores) == 1 and self.cores[0].use_threads(threads)


def load_language(
    source: str | Path,
    home: Path,
    quants: Quants,
    placements: tuple[DevicePlacement, DevicePlacement],
    *,
    threads: int,
    draft_tokens: int = 0,
    kernels: Path | None = None,
    progress: Progress = silent,
) -> LoadedLanguage:
    """Find, convert and open talker and predictor at their placements.

    home: where converted models lie, and the compiled kernel unless ``kernels`` is given.

    Raises Qwen3Error.
    """
    job = ConversionJob(source, home / CONVERTED_FOLDER, threads, progress)
    folders: dict[str, Path] = {}
    for placement in placements:
        wanted = quant_on(placement.backend, quants)
        if wanted.talker not in folders:
            folders[wanted.talker] = placement.backend.convert(wanted, job)
    at = [folders[quant_on(placement.backend, quants).talker] for placement in placements]
    spec = read_spec(at[0])
    setting = Setting(spec, threads, (kernels or home) / KERNEL_FOLDER)
    cores: dict[str, Core] = {}
    for placement in placements:
        name = placement.backend.name
        cores[name] = cores.get(name) or placement.backend.open(setting)
    first, second = placements
    talker, talker_quant = cores[first.backend.name].talker(at[0], first.gpu_layers)
    predictor, predictor_quant = cores[second.backend.name].predictor(
        at[1], second.gpu_layers, draft_tokens
    )
    embeddings = TableEmbeddings(open_tables(at[0]), spec)
    return LoadedLanguage(
        at[0],
        LanguageModel(spec, embeddings, talker, predictor),
        first,
        second,
        Quants(talker_quant, predictor_quant),
        tuple(cores.values()),
        predictor,
    )
