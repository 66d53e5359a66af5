"""What may be written behind `fixed@qnn:`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from s2s.tts.qwen3.errors import ProviderError
from s2s.tts.qwen3.fixed.provider_options import check_options

QNN = "qnn"

_KNOWN: dict[str, tuple[str, ...]] = {
    "soc_model": (),
    "htp_arch": ("68", "69", "73", "75", "79", "81"),
    "agreement": (),
    "simulate": ("0", "1"),
}
"""Architectures are named: another number is taken by the compiler unsaid (seen: 12)."""


@dataclass(frozen=True, slots=True)
class QnnOptions:
    """soc_model, htp_arch: the chip that is compiled for, by Qualcomm's numbers of it.
    agreement: the least share of greedy codes that has to agree with the processor's. simulate:
    compute in Qualcomm's simulator, where there is no such chip."""

    soc_model: int = 57
    htp_arch: int = 75
    agreement: float = 1.0
    simulate: bool = False

    @property
    def chip(self) -> str:
        """For names of files and messages."""
        return f"soc{self.soc_model}-v{self.htp_arch}-f16"


def qnn_options(written: Mapping[str, str]) -> QnnOptions:
    """Raises ProviderError for an unknown option or value."""
    check_options(QNN, written, _KNOWN)
    usual = QnnOptions()
    return QnnOptions(
        _whole(written, "soc_model", usual.soc_model),
        _whole(written, "htp_arch", usual.htp_arch),
        _share(written, "agreement", usual.agreement),
        written.get("simulate") == "1",
    )


def _whole(written: Mapping[str, str], name: str, usual: int) -> int:
    text = written.get(name, str(usual))
    if not (text.isascii() and text.isdigit() and int(text) > 0):
        raise ProviderError(f"{QNN}: {name} cannot be {text!r}; it is a number such as {usual}")
    return int(text)


def _share(written: Mapping[str, str], name: str, usual: float) -> float:
    text = written.get(name, str(usual))
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found <= 1:
        raise ProviderError(f"{QNN}: {name} cannot be {text!r}; it is a share from 0 to 1")
    return found
