"""What a run of the tests asks for: marked tests that run on request, and that nothing is skipped.

`--require MARK` runs the tests of that mark, which are left out else, and `--no-skips` makes a skip
a failure, unless it is about the machine alone: Windows' tests cannot run on Linux.
"""

from __future__ import annotations

from collections.abc import Generator

import pytest

ON_REQUEST = {
    "pulse": "conversations in real time through a sound server",
    "browser": "the page in a browser",
    "index": "installations from the package index",
    "faults": "faults of a language server, of llama.cpp's own",
    "voices": "voices of other packages, in environments of their own from the package index",
    "executorch": "Qwen3-TTS on ExecuTorch, in an environment of its own from the package index",
    "mnn": "Qwen3-TTS on MNN itself, in an environment of its own from the package index",
    "qnn": "Qualcomm's compiler and simulator, in an environment of their own from the index",
    "kernels": "the wheel of the compiled kernel, built and installed",
    "clients": "clients of others, in environments of their own from the package index",
    "emulation": "the kernel on other processors and systems, by cross compilers and emulators",
    "cluster": "several processes of sessions under Ray Serve",
    "sanitizers": "the kernel with the checks that a compiler puts in",
}
"""Marks of tests that run only when asked for, and what they are."""

OF_THE_MACHINE = (
    "Windows",
    "only Linux",
    "this processor",
    "no large pages",
    "the system does not move pages",
)
"""How the reasons begin that are skipped also with `--no-skips`."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--require-models", action="store_true", help="fail, not skip, where a model is missing"
    )
    parser.addoption(
        "--require",
        action="append",
        default=[],
        choices=list(ON_REQUEST),
        help="run the tests of this mark, and fail where what they need is missing",
    )
    parser.addoption("--no-skips", action="store_true", help="a skipped test is a failed one")


def pytest_runtest_setup(item: pytest.Item) -> None:
    required: list[str] = item.config.getoption("--require")
    for mark, what in ON_REQUEST.items():
        if item.get_closest_marker(mark) is not None and mark not in required:
            pytest.skip(f"{what}: --require {mark}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if item.config.getoption("--no-skips") and not hasattr(report, "wasxfail"):
        _fail_if_skipped(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    if collector.config.getoption("--no-skips"):
        _fail_if_skipped(report)
    return report


def _fail_if_skipped(report: pytest.TestReport | pytest.CollectReport) -> None:
    if not report.skipped:
        return
    reason = str(report.longrepr[2]) if isinstance(report.longrepr, tuple) else ""
    reason = reason.removeprefix("Skipped: ")
    if not reason.startswith(OF_THE_MACHINE):
        report.outcome = "failed"
        report.longrepr = f"skipped, which --no-skips forbids: {reason}"
