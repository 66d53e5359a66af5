"""Graphs of fixed shapes on Qualcomm's Hexagon processor (`Provider`).

A graph is compiled once for a chip and kept; what is computed in half precision or less is compared
with the processor before it speaks, once for each content, chip and versions.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from s2s.tts.qwen3.errors import ProviderError
from s2s.tts.qwen3.fixed.admission import (
    Agreement,
    Fidelity,
    Measure,
    Measured,
    PartAdmission,
    decided,
)
from s2s.tts.qwen3.fixed.qnn.contexts import (
    content_key,
    forget,
    kept_context,
    read_note,
    write_note,
)
from s2s.tts.qwen3.fixed.qnn.options import QNN, QnnOptions, qnn_options
from s2s.tts.qwen3.fixed.qnn.plugin import InstalledPlugin, Plugin

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

_COMPILED = f"compiled-{QNN}"
_SNR, _SAME, _CODES = "snr_db", "same", "codes"
_INSTALLED = InstalledPlugin()


@dataclass(frozen=True, slots=True)
class QnnProvider:
    """See `Provider`."""

    options: QnnOptions = field(default_factory=QnnOptions)
    plugin: Plugin = _INSTALLED
    name: str = QNN

    def missing(self) -> str | None:
        """See `Provider`."""
        return self.plugin.missing(self.options)

    def open(self, graph: Path, threads: int) -> InferenceSession:
        """See `Provider`: compiled now, or taken from what was kept."""
        reason = self.missing()
        if reason is not None:
            raise ProviderError(reason)
        try:
            context, made = self._context(graph)
            try:
                return self.plugin.open(context, self.options, threads)
            except ProviderError:
                if made:
                    raise
            forget(context)  # a kept one that is whole, and yet not to be opened: made again, once
            return self.plugin.open(self._context(graph)[0], self.options, threads)
        except OSError as error:
            raise ProviderError(f"qnn cannot keep what it compiled: {error}") from error

    def admit(self, part: str, folder: Path, measure: Measure) -> PartAdmission:
        """See `Provider`: measured once, then known. A note that cannot be kept is measured again
        the next time."""
        key = self._key(sorted(folder.glob("*.onnx")))
        note = self._place(folder) / f"measured-{part.replace(' ', '-')}.json"
        measured = _measured(read_note(note, key))
        if measured is None:
            measured = measure()
            with suppress(OSError):
                write_note(note, key, _numbers(measured))
        return decided(measured, self.options.agreement, self._how())

    def _context(self, graph: Path) -> tuple[Path, bool]:
        return kept_context(
            self._place(graph.parent),
            graph,
            self._key([graph]),
            lambda path: self.plugin.compile(graph, path, self.options),
        )

    def _key(self, graphs: list[Path]) -> str:
        return content_key(graphs, self.options.chip, self.plugin.versions())

    def _place(self, folder: Path) -> Path:
        return folder / _COMPILED / self.options.chip

    def _how(self) -> str:
        simulated = ", simulated" if self.options.simulate else ""
        return f"qnn ({self.options.chip}{simulated})"


def qnn_provider(written: Mapping[str, str]) -> QnnProvider:
    """By the options of a placement. Raises ProviderError for one that it does not know."""
    return QnnProvider(qnn_options(written))


def _numbers(measured: Measured) -> dict[str, float]:
    match measured:
        case Fidelity(snr_db):
            return {_SNR: snr_db}
        case Agreement(same, codes):
            return {_SAME: same, _CODES: codes}


def _measured(note: Mapping[str, float]) -> Measured | None:
    match note:
        case {"snr_db": snr}:
            return Fidelity(snr)
        case {"same": same, "codes": codes} if 0 <= same <= codes and codes > 0:
            return Agreement(int(same), int(codes))
        case _:
            return None
