"""An address as a QR code in the terminal, for the phone in the house."""

from __future__ import annotations

from collections.abc import Sequence

QUIET = 2
"""Light modules around the code: fewer than the standard's four, and read by every phone."""


def qr_text(address: str) -> str | None:
    """The code in half blocks, dark on light; None where the package that makes it is missing."""
    try:
        import segno
    except ImportError:
        return None
    matrix = segno.make(address, micro=False, error="l").matrix
    return drawn([[bool(module) for module in row] for row in matrix])


def drawn(modules: Sequence[Sequence[bool]]) -> str:
    """Modules [rows][columns], true is dark, two rows a line: a light module is drawn as a block,
    so that the code is dark on light on a dark terminal; a light one shows it inverted, which
    phones read as well."""
    side = len(modules) + 2 * QUIET
    light = [[True] * side for _ in range(side + side % 2)]  # below an odd one is one row more
    for y, row in enumerate(modules):
        for x, dark in enumerate(row):
            light[y + QUIET][x + QUIET] = not dark
    signs = {(True, True): "█", (True, False): "▀", (False, True): "▄", (False, False): " "}
    lines = [
        "".join(signs[upper, lower] for upper, lower in zip(light[y], light[y + 1], strict=True))
        for y in range(0, len(light), 2)
    ]
    return "\n".join(lines)
