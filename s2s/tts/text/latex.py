"""Turns LaTeX formulas into plain signs (α, ×, √), which each language then reads. Pure."""

from __future__ import annotations

import re

from s2s.tts.text.tracked import Tracked

_FORMULA = re.compile(
    r"\$\$(?P<display>.+?)\$\$|\\\[(?P<bracket>.+?)\\\]|\\\((?P<paren>.+?)\\\)"
    r"|(?<![\\$\w])\$(?![\s$])(?P<inline>[^$\n]*[A-Za-z\\^_={}][^$\n]*?)(?<![\s\\])\$(?![\d$])",
    re.S,
)
_COMMANDS = {
    "times": "×", "cdot": "×", "div": "÷", "pm": "±", "leq": "≤", "le": "≤", "geq": "≥",
    "ge": "≥", "neq": "≠", "ne": "≠", "approx": "≈", "infty": "∞", "sum": "∑", "int": "∫",
    "partial": "∂", "to": "→", "rightarrow": "→", "Rightarrow": "⇒", "in": "∈", "alpha": "α",
    "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε", "theta": "θ",
    "lambda": "λ", "mu": "μ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "φ",
    "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω", "eta": "η", "Delta": "Δ", "Sigma": "Σ",
    "Omega": "Ω", "Gamma": "Γ", "ldots": "…", "dots": "…", "cdots": "…", "quad": " ",
    "qquad": " ", "forall": "∀", "exists": "∃", "cup": "∪", "cap": "∩", "circ": "°",
}  # fmt: skip
_FRACTION = re.compile(r"\\[dt]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}")
_ROOT = re.compile(r"\\sqrt\s*\{([^{}]*)\}")
_TEXT = re.compile(r"\\(?:text|mathrm|mathbf|mathit|operatorname|boxed|textbf)\s*\{([^{}]*)\}")
_COMMAND = re.compile(r"\\([A-Za-z]+)\s?")
_SPACING = re.compile(r"\\[,;:! ]|[{}]|\\\\|&")
_BRACED_POWER = re.compile(r"\^\{([^{}]*)\}")
_SUBSCRIPT = re.compile(r"_\{?(\w+)\}?")


def read_formulas(text: Tracked) -> None:
    """Replace formulas in `text` in place; money such as "$5 and $6" is none."""
    if "$" in text.text or "\\" in text.text:
        text.sub(_FORMULA, _plain)


def _plain(match: re.Match[str]) -> str:
    formula = next(group for group in match.groups() if group is not None)
    formula = _BRACED_POWER.sub(r"^\1", formula)
    formula = _TEXT.sub(r"\1", formula)
    formula = _ROOT.sub(r"√\1", formula)
    for _ in range(3):  # fractions in fractions
        formula = _FRACTION.sub(_plain_fraction, formula)
    formula = _COMMAND.sub(lambda m: _COMMANDS.get(m[1], f"{m[1]} "), formula)
    formula = _SUBSCRIPT.sub(r" \1", formula)
    return " ".join(_SPACING.sub(" ", formula).split())


def _plain_fraction(match: re.Match[str]) -> str:
    top, bottom = match[1].strip(), match[2].strip()
    return f"{top}/{bottom}" if top.isdigit() and bottom.isdigit() else f"{top} ∕ {bottom}"
