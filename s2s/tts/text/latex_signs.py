"""LaTeX commands and the plain signs that each language reads. Data only."""

from __future__ import annotations

COMMANDS = {
    "times": "×", "cdot": "×", "ast": "×", "div": "÷", "pm": "±", "mp": "∓", "leq": "≤", "le": "≤",
    "leqslant": "≤", "geq": "≥", "ge": "≥", "geqslant": "≥", "neq": "≠", "ne": "≠", "lt": "<",
    "gt": ">", "approx": "≈", "simeq": "≈", "sim": "≈", "cong": "≈", "equiv": "≡", "propto": "∝",
    "infty": "∞", "sum": "∑", "prod": "∏", "int": "∫", "iint": "∫", "oint": "∫", "partial": "∂",
    "nabla": "∇", "to": "→", "rightarrow": "→", "longrightarrow": "→", "Rightarrow": "⇒",
    "implies": "⇒", "iff": "⇔", "Leftrightarrow": "⇔", "leftrightarrow": "↔", "leftarrow": "←",
    "gets": "←", "mapsto": "→", "in": "∈", "notin": "∉", "subset": "⊂", "subseteq": "⊆",
    "forall": "∀", "exists": "∃", "cup": "∪", "cap": "∩", "emptyset": "∅", "varnothing": "∅",
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε",
    "zeta": "ζ", "eta": "η", "theta": "θ", "vartheta": "θ", "iota": "ι", "kappa": "κ",
    "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ",
    "tau": "τ", "upsilon": "υ", "phi": "φ", "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω",
    "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Sigma": "Σ",
    "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω", "ldots": "…", "dots": "…", "cdots": "…", "vdots": "…",
    "ddots": "…", "quad": " ", "qquad": " ", "circ": "°", "degree": "°", "celsius": "°C",
    "percent": "%", "euro": "€", "pounds": "£", "ell": "l", "hbar": "h", "prime": "'", "mid": "|",
    "colon": ":", "land": "∧", "lor": "∨", "neg": "¬", "perp": "⊥", "parallel": "∥", "angle": "∠",
    "langle": "", "rangle": "", "lfloor": "", "rfloor": "", "lceil": "", "rceil": "", "lbrace": "",
    "rbrace": "", "vert": "", "Vert": "",
}  # fmt: skip
"""A command without arguments -> what stands for it."""

FUNCTIONS_TEXT = """
sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh log ln lg exp lim max min sup inf det
dim ker gcd lcm mod arg deg Pr
"""
FUNCTIONS = frozenset(FUNCTIONS_TEXT.split())
"""Commands that are names of functions: their name is said."""

FRACTIONS = frozenset({"frac", "dfrac", "tfrac", "cfrac", "sfrac"})
BINOMIALS = frozenset({"binom", "dbinom", "tbinom"})
SILENT_TEXT = """
left right big Big bigg Bigg bigl bigr Bigl Bigr middle limits nolimits displaystyle textstyle
scriptstyle nonumber notag hline centering noindent bf it rm sf tt em bfseries itshape smallskip
medskip bigskip newline par hfill tiny small large Large
"""
SILENT = frozenset(SILENT_TEXT.split())
"""Layout: says nothing, and has no argument."""
DROPPED_TEXT = "label tag ref eqref vspace hspace color textcolor cite phantom hphantom vphantom"
DROPPED = frozenset(DROPPED_TEXT.split())
"""Whose first argument is layout as well."""
KNOWN_WITH_ARGUMENT_TEXT = """
text textbf textit textrm texttt textsf emph underline mathrm mathbf mathit mathbb mathcal mathfrak
mathsf mathtt operatorname boxed overline bar hat vec tilde dot ddot widehat overrightarrow
underbrace overbrace bm boldsymbol ce mbox SI si num qty unit
"""
WITH_ARGUMENT = frozenset(KNOWN_WITH_ARGUMENT_TEXT.split())
"""Whose arguments are read as they are."""
