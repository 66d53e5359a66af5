"""Talker and code predictor of a checkpoint, each where it is to be computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from s2s.tts.qwen3.backend import Core, DevicePlacement, DraftingPredictor, Quants, Setting
from s2s.tts.qwen3.backends import quant_on
from s2s.tts.qwen3.checkpoint.conversion import ConversionJob, Progress, silent
from s2s.tts.qwen3.checkpoint.spec import Spec, read_spec
from s2s.tts.qwen3.checkpoint.tables import TableEmbeddings, open_tables
from s2s.tts.qwen3.engine.language_model import LanguageModel
from s2s.tts.qwen3.folders import CONVERTED_FOLDER, KERNEL_FOLDER
from s2s.tts.qwen3.interfaces import PredictorState, State, Talker


@dataclass(frozen=True, slots=True)
class LanguageOpening:
    """What a language model is opened from.

    source: a folder, a name or a hub id. home: where converted models lie, and the compiled kernel
    unless ``kernels`` is given. threads: the most that compute.
    """

    source: str | Path
    home: Path
    quants: Quants
    threads: int
    kernels: Path | None = None
    progress: Progress = silent

    def folder(self, placement: DevicePlacement) -> Path:
        """The checkpoint as a backend opens it, converted if need be. Raises Qwen3Error."""
        job = ConversionJob(self.source, self.home / CONVERTED_FOLDER, self.threads, self.progress)
        return placement.backend.convert(quant_on(placement.backend, self.quants), job)

    def core(self, placement: DevicePlacement, spec: Spec) -> Core:
        """A backend at work. Raises BackendError."""
        kernels = (self.kernels or self.home) / KERNEL_FOLDER
        return placement.backend.open(Setting(spec, self.threads, kernels))


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
    cores: Mapping[str, Core]
    """By the backend's name: one, or one for each part."""
    drafting: DraftingPredictor[PredictorState]
    opening: LanguageOpening

    def use_draft_tokens(self, draft_tokens: int) -> None:
        """So many draft tokens are verified in each predictor pass, from the next frame on."""
        self.drafting.draft_tokens = draft_tokens

    def use_threads(self, threads: int) -> bool:
        """So many threads compute from the next frame on; False where their number is fixed: in
        some backends, and where two share the work."""
        return len(self.cores) == 1 and next(iter(self.cores.values())).use_threads(threads)

    def moved(
        self, talker: DevicePlacement | None = None, predictor: DevicePlacement | None = None
    ) -> LoadedLanguage:
        """The same model with a part, or both, computed elsewhere; what stays is not opened again.

        Raises Qwen3Error: this one goes on then as if nothing had been asked.
        """
        places = (talker or self.talker, predictor or self.predictor)
        folders = _folders(self.opening, places)
        cores = _cores(self.opening, places, self.language.spec, self.cores)
        kept_talker = kept_predictor = None
        if places[0] == self.talker:
            kept_talker = self.language.talker, self.quants.talker
        if places[1] == self.predictor:
            kept_predictor = self.drafting, self.quants.predictor or self.quants.talker
        return _loaded(
            self.opening,
            places,
            folders,
            cores,
            kept_talker or _open_talker(cores, places[0], folders[0]),
            kept_predictor
            or _open_predictor(cores, places[1], folders[1], self.drafting.draft_tokens),
        )


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
    """Find, convert and open talker and predictor at their placements; for the rest see
    `LanguageOpening`.

    Raises Qwen3Error.
    """
    opening = LanguageOpening(source, home, quants, threads, kernels, progress)
    folders = _folders(opening, placements)
    cores = _cores(opening, placements, read_spec(folders[0]), {})
    return _loaded(
        opening,
        placements,
        folders,
        cores,
        _open_talker(cores, placements[0], folders[0]),
        _open_predictor(cores, placements[1], folders[1], draft_tokens),
    )


Places = tuple[DevicePlacement, DevicePlacement]
"""Of talker and predictor."""


def _folders(opening: LanguageOpening, places: Places) -> tuple[Path, Path]:
    """The converted checkpoint of each part: one and the same where the quantisation is."""
    first, second = places
    folder = opening.folder(first)
    if quant_on(second.backend, opening.quants) == quant_on(first.backend, opening.quants):
        return folder, folder
    return folder, opening.folder(second)


def _cores(
    opening: LanguageOpening, places: Places, spec: Spec, known: Mapping[str, Core]
) -> dict[str, Core]:
    cores: dict[str, Core] = {}
    for place in places:
        name = place.backend.name
        cores[name] = cores.get(name) or known.get(name) or opening.core(place, spec)
    return cores


def _open_talker(
    cores: Mapping[str, Core], place: DevicePlacement, folder: Path
) -> tuple[Talker[State], str]:
    return cores[place.backend.name].talker(folder, place.gpu_layers)


def _open_predictor(
    cores: Mapping[str, Core], place: DevicePlacement, folder: Path, draft_tokens: int
) -> tuple[DraftingPredictor[PredictorState], str]:
    return cores[place.backend.name].predictor(folder, place.gpu_layers, draft_tokens)


def _loaded(
    opening: LanguageOpening,
    places: Places,
    folders: tuple[Path, Path],
    cores: Mapping[str, Core],
    talker: tuple[Talker[State], str],
    predictor: tuple[DraftingPredictor[PredictorState], str],
) -> LoadedLanguage:
    spec = read_spec(folders[0])
    embeddings = TableEmbeddings(open_tables(folders[0]), spec)
    return LoadedLanguage(
        folders[0],
        LanguageModel(spec, embeddings, talker[0], predictor[0]),
        *places,
        Quants(talker[1], predictor[1]),
        cores,
        predictor[0],
        opening,
    )
