"""Providers by name and option, and what is said when one cannot take a graph."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnxruntime
import pytest

from s2s.models.onnx_file.builder import GraphBuilder
from s2s.tts.qwen3.errors import OnnxError, ProviderError
from s2s.tts.qwen3.fixed import providers
from s2s.tts.qwen3.fixed.admission import Agreement, Measure, PartAdmission, decided
from s2s.tts.qwen3.fixed.provider_options import check_options
from s2s.tts.qwen3.fixed.providers import (
    KNOWN,
    OpenedGraphs,
    RuntimeProvider,
    provider_named,
)


@pytest.fixture
def graphs(tmp_path: Path) -> Path:
    """Graphs "one" and "two", which add, and "old" of another version."""
    for name, version in (("one", 3), ("two", 3), ("old", 2)):
        with GraphBuilder(tmp_path, name) as graph:
            given = graph.input("given", np.float32, (2,))
            graph.output("found", graph.op("Add", given, given), np.float32, (2,))
            graph.save({"version": str(version)})
    return tmp_path


def doubled(session: onnxruntime.InferenceSession) -> list[float]:
    (found,) = session.run(None, {"given": np.array([1, 2], np.float32)})
    return found.tolist()


@dataclass
class Picky:
    """Takes some graphs."""

    takes: tuple[str, ...]
    name: str = "picky"
    asked: list[str] = field(default_factory=list)

    def missing(self) -> str | None:
        return None

    def open(self, graph: Path, threads: int) -> onnxruntime.InferenceSession:
        self.asked.append(graph.stem)
        if graph.stem not in self.takes:
            raise ProviderError(f"picky has no Add ({graph.name})")
        return RuntimeProvider("cpu").open(graph, threads)

    def admit(self, part: str, folder: Path, measure: Measure) -> PartAdmission:
        return decided(measure(), 1.0, self.name)


def test_a_provider_with_options_is_written_as_it_is_read() -> None:
    assert provider_named("cpu") == RuntimeProvider("cpu")
    found = provider_named("CoreML:ModelFormat=NeuralNetwork, MLComputeUnits=ALL")
    assert found == RuntimeProvider(
        "coreml", {"ModelFormat": "NeuralNetwork", "MLComputeUnits": "ALL"}
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("abacus", "'abacus' is no provider; known: cpu, cuda, tensorrt, coreml"),
        ("coreml:Units=ALL", "coreml has no option 'Units'; known: ModelFormat, MLComputeUnits"),
        ("coreml:MLComputeUnits=NPU", "MLComputeUnits cannot be 'NPU'; it can be ALL, CPUOnly"),
        ("tensorrt:trt_fp16_enable", "'trt_fp16_enable' is no option of a provider: write NAME="),
        ("cpu:threads=2", "cpu has no option 'threads'; known: none"),
    ],
)
def test_another_is_an_error_that_names_the_known(text: str, says: str) -> None:
    with pytest.raises(ProviderError, match=says):
        provider_named(text)


def test_every_given_option_is_a_known_one() -> None:
    for name, known in KNOWN.items():
        check_options(name, known.given, known.options)
        assert not known.cache or known.cache in known.options


@pytest.mark.parametrize("name", ["cuda", "tensorrt", "coreml"])
def test_what_is_not_installed_is_said_with_what_is(
    name: str, graphs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = ["CPUExecutionProvider", "AzureExecutionProvider"]
    monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: here)
    reason = str(RuntimeProvider(name).missing())
    assert f"onnxruntime has no {name} here, only azure, cpu (" in reason
    assert KNOWN[name].package in reason
    with pytest.raises(ProviderError, match=f"no {name} here"):
        RuntimeProvider(name).open(graphs / "one.onnx", 1)
    assert RuntimeProvider("cpu").missing() is None


Given = tuple[tuple[str, dict[str, str]], ...]


@pytest.fixture
def tensorrt(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], list[Given]]:
    """As if it were there: whether it can be loaded, to what sessions were asked for."""
    opened: list[Given] = []
    plain = providers.open_session

    def install(loads: bool) -> list[Given]:
        names = [KNOWN["tensorrt"].runtime, "CPUExecutionProvider"]
        monkeypatch.setattr(onnxruntime, "get_available_providers", lambda: names)

        def opening(path: Path, threads: int, *, providers: Given) -> object:
            opened.append(providers)
            session = plain(path, threads)
            if loads:
                monkeypatch.setattr(session, "get_providers", lambda: names)
            return session

        monkeypatch.setattr(providers, "open_session", opening)
        return opened

    return install


def test_a_provider_gets_its_options_and_a_folder_for_what_it_compiles(
    graphs: Path, tensorrt: Callable[[bool], list[Given]]
) -> None:
    opened = tensorrt(True)
    provider = provider_named("tensorrt:trt_fp16_enable=1,trt_engine_cache_enable=0")
    assert doubled(provider.open(graphs / "one.onnx", 1)) == [2, 4]
    (first, *others), (compiled,) = opened[0], graphs.glob("compiled-tensorrt-*")
    assert first == (
        "TensorrtExecutionProvider",
        {
            "trt_engine_cache_enable": "0",
            "trt_fp16_enable": "1",
            "trt_engine_cache_path": str(compiled),
        },
    )
    assert others == ["CUDAExecutionProvider", "CPUExecutionProvider"]
    assert compiled.is_dir()
    provider_named("tensorrt").open(graphs / "one.onnx", 1)
    assert len(list(graphs.glob("compiled-tensorrt-*"))) == 2, "not what other options made"


def test_a_provider_that_cannot_be_loaded_is_said(
    graphs: Path, tensorrt: Callable[[bool], list[Given]]
) -> None:
    """onnxruntime goes on without it, and says nothing to the program."""
    tensorrt(False)
    with pytest.raises(ProviderError, match=r"tensorrt could not be loaded .*pip install"):
        provider_named("tensorrt").open(graphs / "one.onnx", 1)


def test_what_onnxruntime_refuses_is_the_reason(
    graphs: Path, tensorrt: Callable[[bool], list[Given]], monkeypatch: pytest.MonkeyPatch
) -> None:
    tensorrt(True)

    def refuses(path: Path, threads: int, *, providers: Given) -> object:
        raise OnnxError("no such operator: Sin")

    monkeypatch.setattr(providers, "open_session", refuses)
    with pytest.raises(ProviderError, match=r"cannot take one\.onnx \(no such operator: Sin\)"):
        provider_named("tensorrt").open(graphs / "one.onnx", 1)


def test_a_part_is_on_its_provider_as_long_as_that_takes_it(graphs: Path) -> None:
    provider = Picky(("one", "two"))
    opened = OpenedGraphs("codec", graphs, provider, 1)
    assert doubled(opened.session("one", 3)) == doubled(opened.session("two", 3)) == [2, 4]
    assert opened.session("one", 3) is opened.session("one", 3)
    assert provider.asked == ["one", "two"]
    assert opened.remark == ""


def test_what_a_provider_cannot_take_is_computed_here_and_the_reason_said_once(
    graphs: Path, caplog: pytest.LogCaptureFixture
) -> None:
    provider = Picky(("two",))
    opened = OpenedGraphs("codec", graphs, provider, 1)
    with caplog.at_level(logging.WARNING):
        assert doubled(opened.session("one", 3)) == [2, 4]
        assert doubled(opened.session("two", 3)) == [2, 4]
    assert provider.asked == ["one"], "the whole part moves"
    assert opened.remark == "codec on the processor: picky has no Add (one.onnx)"
    assert [record.message for record in caplog.records] == [opened.remark]


def test_a_missing_damaged_or_old_graph_is_no_matter_of_providers(graphs: Path) -> None:
    opened = OpenedGraphs("codec", graphs, Picky(("one", "old")), 1)
    with pytest.raises(OnnxError, match=r"three\.onnx is missing; convert"):
        opened.session("three", 3)
    with pytest.raises(OnnxError, match=r"old\.onnx has version 2, this program needs 3"):
        opened.session("old", 3)
    (graphs / "two.onnx").write_bytes(b"nothing of the kind")
    with pytest.raises(OnnxError, match=r"two\.onnx cannot be opened"):
        opened.session("two", 3)


def test_another_provider_is_a_line(graphs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def made(options: Mapping[str, str]) -> Picky:
        return Picky(tuple(options))

    monkeypatch.setitem(providers.PROVIDERS, "picky", made)
    assert doubled(provider_named("picky:one=1").open(graphs / "one.onnx", 1)) == [2, 4]


def test_a_provider_that_rounds_too_much_is_left_with_the_figures(
    graphs: Path, caplog: pytest.LogCaptureFixture
) -> None:
    part = OpenedGraphs("talker", graphs, Picky(("one", "two")), 1)
    assert doubled(part.session("one", 3)) == [2, 4]
    with caplog.at_level(logging.WARNING):
        part.admit(lambda: Agreement(51, 52))
    left = "talker on the processor: picky: 51 of 52 greedy codes agree, 100% have to"
    assert part.remark == caplog.messages[0] == left
    before = part.session("one", 3)
    assert "CPUExecutionProvider" in before.get_providers()
    assert doubled(before) == [2, 4]


def test_one_that_passes_says_its_figures(graphs: Path) -> None:
    part = OpenedGraphs("talker", graphs, Picky(("one", "two")), 1)
    part.session("one", 3)
    part.admit(lambda: Agreement(52, 52))
    assert part.remark == "talker on picky: 52 of 52 greedy codes agree"


def test_the_processor_is_not_measured_in_its_place(graphs: Path) -> None:
    """A graph that is first opened during the comparison is refused: nothing is said of figures."""
    part = OpenedGraphs("talker", graphs, Picky(("one",)), 1)
    part.session("one", 3)

    def measured() -> Agreement:
        part.session("two", 3)
        return Agreement(52, 52)

    part.admit(measured)
    assert part.remark == "talker on the processor: picky has no Add (two.onnx)"
    part.admit(lambda: pytest.fail("it is on the processor: nothing to measure"))
    assert part.remark == "talker on the processor: picky has no Add (two.onnx)"
