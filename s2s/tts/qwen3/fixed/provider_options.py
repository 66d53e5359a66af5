"""What may be written behind the colon of a provider."""

from __future__ import annotations

from collections.abc import Mapping

from s2s.tts.qwen3.errors import ProviderError


def check_options(
    provider: str, options: Mapping[str, str], known: Mapping[str, tuple[str, ...]]
) -> None:
    """Raise ProviderError for an option that is not known, or a value that it cannot have; known:
    the values of each, any where none is listed."""
    for name, value in options.items():
        if name not in known:
            there = ", ".join(known) or "none"
            raise ProviderError(f"{provider} has no option {name!r}; known: {there}")
        if known[name] and value not in known[name]:
            able = ", ".join(known[name])
            raise ProviderError(f"{provider}: {name} cannot be {value!r}; it can be {able}")
