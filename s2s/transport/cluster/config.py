"""Settings of a server that runs as several processes, on one machine or on many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from s2s.core.setting import made_setting, setting

Proxy = Literal["auto", "haproxy", "python"]


@dataclass(frozen=True, slots=True)
class ClusterModelConfig:
    """One stage's model, in processes of its own."""

    replicas: int = setting(
        0,
        "Processes of this model, which all sessions share; 0: each process of sessions has its "
        "own, or its backend asks a server elsewhere.",
    )
    cpus: float = setting(1.0, "Cores set aside for each of them.")
    gpus: float = setting(
        0.0, "Share of a graphics card set aside for each: with 0.25, four are on one card."
    )
    at_once: int = setting(1, "Requests that each of them works on at a time.")
    waiting: int = setting(
        32, "Requests of one process of sessions that may wait for it; what comes beyond fails."
    )

    def __post_init__(self) -> None:
        _at_least("replicas", self.replicas, 0)
        _at_least("cpus", self.cpus, 0)
        _at_least("gpus", self.gpus, 0)
        _at_least("at_once", self.at_once, 1)
        _at_least("waiting", self.waiting, 1)
        _check_gpus(self.gpus)


@dataclass(frozen=True, slots=True)
class ClusterConfig:
    """How many processes there are, what each is given, and how one ends."""

    replicas: int = setting(
        2, "Processes of sessions; each holds `serve.max_sessions` conversations at a time."
    )
    max_replicas: int | None = setting(
        None, "More are started with more sessions, up to so many; none: never more."
    )
    target_sessions: float | None = setting(
        None,
        "Sessions of a process above which another is started; none: three quarters of "
        "`serve.max_sessions`.",
    )
    scale_down_s: float = setting(
        600.0, "How long fewer would have been enough before one of those processes ends."
    )
    cpus: float = setting(1.0, "Cores set aside for each process of sessions.")
    gpus: float = setting(0.0, "Share of a graphics card set aside for each process of sessions.")
    drain_s: float = setting(
        30.0,
        "What a process that is to end waits for answers that are being given; then its clients "
        "are told to come again (close code 1012).",
    )
    proxy: Proxy = setting(
        "auto",
        "What stands in front: haproxy adds less than a millisecond; python, which every system "
        "has, several; auto: haproxy where it is installed.",
    )
    address: str | None = setting(
        None,
        "Of a Ray cluster that runs, such as auto or ray://head:10001; none: one is started on "
        "this machine, and ends with the command.",
    )
    start_s: float = setting(600.0, "How long the processes may take to load their models.")
    model_wait_s: float = setting(
        10.0, "How long a session waits for a model in a process of its own; then the answer fails."
    )
    stt: ClusterModelConfig = made_setting(ClusterModelConfig, "The recogniser's processes.")
    llm: ClusterModelConfig = made_setting(ClusterModelConfig, "The language model's processes.")
    tts: ClusterModelConfig = made_setting(ClusterModelConfig, "The voice's processes.")

    def __post_init__(self) -> None:
        _at_least("replicas", self.replicas, 1)
        if self.max_replicas is not None:
            _at_least("max_replicas", self.max_replicas, self.replicas, "as many as replicas")
        if self.target_sessions is not None:
            _positive("target_sessions", self.target_sessions)
        for name in ("scale_down_s", "cpus", "gpus", "drain_s"):
            _at_least(name, getattr(self, name), 0)
        _positive("start_s", self.start_s)
        _positive("model_wait_s", self.model_wait_s)
        _check_gpus(self.gpus)
        if self.address is not None and not self.address.strip():
            raise ValueError(
                "address must not be empty: leave it out to start a cluster on this machine"
            )


def _at_least(name: str, value: float, least: float, what: str = "") -> None:
    if not value >= least:
        raise ValueError(f"{name} must be at least {least}{what and f' ({what})'}, got {value}")


def _positive(name: str, value: float) -> None:
    if not value > 0:
        raise ValueError(f"{name} must be positive, got {value}")


def _check_gpus(gpus: float) -> None:
    if gpus > 1 and gpus != int(gpus):
        raise ValueError(
            f"gpus must be a share of one card (at most 1) or a whole number of cards, got {gpus}"
        )
