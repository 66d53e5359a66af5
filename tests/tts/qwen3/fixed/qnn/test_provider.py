"""Opening and admission on a plug-in that stands in for the chip's."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from s2s.tts.qwen3 import DevicePlacements, Request, open_model
from s2s.tts.qwen3.errors import ProviderError
from s2s.tts.qwen3.fixed import providers
from s2s.tts.qwen3.fixed.admission import Agreement, Fidelity, Measured
from s2s.tts.qwen3.fixed.qnn.options import QnnOptions
from s2s.tts.qwen3.fixed.qnn.provider import QnnProvider
from s2s.tts.qwen3.fixed.weights import FIXED_F32
from tests.tts.qwen3.fixed.qnn.fake_plugin import FakePlugin, found, write_graph


def test_a_graph_is_compiled_once_for_each_content_chip_and_version(tmp_path: Path) -> None:
    graph, plugin = write_graph(tmp_path, "one"), FakePlugin()
    for _ in range(2):
        assert found(QnnProvider(plugin=plugin).open(graph, 1)) == 1
    assert plugin.compiled == ["one"]
    QnnProvider(QnnOptions(69, 79), plugin).open(graph, 1)
    plugin.version = "fake 2"
    QnnProvider(plugin=plugin).open(graph, 1)
    write_graph(tmp_path, "one", 5)
    assert found(QnnProvider(plugin=plugin).open(graph, 1)) == 5
    assert plugin.compiled == ["one"] * 4
    places = [path.parent.parent.name for path in plugin.opened]
    assert places == ["soc57-v75-f16"] * 2 + ["soc69-v79-f16"] + ["soc57-v75-f16"] * 2


def test_a_damaged_context_is_made_again(tmp_path: Path) -> None:
    graph, plugin = write_graph(tmp_path, "one"), FakePlugin()
    provider = QnnProvider(plugin=plugin)
    provider.open(graph, 1)
    plugin.opened[0].write_bytes(b"no graph")
    assert found(provider.open(graph, 1)) == 1
    assert plugin.compiled == ["one", "one"]


def test_a_kept_one_that_cannot_be_opened_is_made_again_once(tmp_path: Path) -> None:
    graph, plugin = write_graph(tmp_path, "one"), FakePlugin()
    provider = QnnProvider(plugin=plugin)
    provider.open(graph, 1)
    plugin.unreadable = 1
    assert found(provider.open(graph, 1)) == 1
    assert plugin.compiled == ["one", "one"]
    plugin.unreadable = 2
    with pytest.raises(ProviderError, match="another library"):
        provider.open(graph, 1)
    assert plugin.compiled == ["one"] * 3


def test_what_is_new_and_cannot_be_opened_is_refused_at_once(tmp_path: Path) -> None:
    graph, plugin = write_graph(tmp_path, "one"), FakePlugin(unreadable=1)
    with pytest.raises(ProviderError, match="another library"):
        QnnProvider(plugin=plugin).open(graph, 1)
    assert plugin.compiled == ["one"]


def test_what_lacks_is_the_reason(tmp_path: Path) -> None:
    provider = QnnProvider(plugin=FakePlugin(lacks="no chip"))
    assert provider.missing() == "no chip"
    with pytest.raises(ProviderError, match="no chip"):
        provider.open(write_graph(tmp_path, "one"), 1)


def test_a_place_that_cannot_be_written_is_the_reason(tmp_path: Path) -> None:
    graph = write_graph(tmp_path, "one")
    (tmp_path / "compiled-qnn").write_text("a file")
    with pytest.raises(ProviderError, match="qnn cannot keep what it compiled"):
        QnnProvider(plugin=FakePlugin()).open(graph, 1)


@pytest.mark.parametrize(
    ("measured", "text"),
    [(Fidelity(44.25), "44.2 dB"), (Agreement(52, 52), "52 of 52 greedy codes agree")],
)
def test_it_is_measured_once(tmp_path: Path, measured: Measured, text: str) -> None:
    write_graph(tmp_path, "one")
    provider = QnnProvider(QnnOptions(simulate=True), FakePlugin())
    admitted = provider.admit("code predictor", tmp_path, lambda: measured)
    assert admitted.said == f"qnn (soc57-v75-f16, simulated): {text}"
    again = provider.admit("code predictor", tmp_path, lambda: pytest.fail("it is known"))
    assert again == admitted
    counted = list[int]()

    def counting() -> Measured:
        counted.append(1)
        return measured

    provider.admit("codec", tmp_path, counting)
    write_graph(tmp_path, "one", 2)
    provider.admit("codec", tmp_path, counting)
    assert len(counted) == 2, "another part, other weights"


def test_a_refusal_is_known_too_and_the_limit_may_be_another(tmp_path: Path) -> None:
    write_graph(tmp_path, "one")
    strict = QnnProvider(plugin=FakePlugin())
    refused = "qnn (soc57-v75-f16): 51 of 52 greedy codes agree, 100% have to"
    assert strict.admit("talker", tmp_path, lambda: Agreement(51, 52)).refused == refused
    lenient = QnnProvider(QnnOptions(agreement=0.9), FakePlugin())
    admitted = lenient.admit("talker", tmp_path, lambda: pytest.fail("it is known"))
    assert (admitted.refused, admitted.said != "") == ("", True)


def test_a_model_speaks_with_parts_there_and_says_which_and_why(
    tiny_qwen3: Callable[[str], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The chip takes talker and codec; the predictor is left to the processor, all of it."""
    plugin = FakePlugin(refuses=("frame",))
    monkeypatch.setitem(
        providers.PROVIDERS, "qnn", lambda options: QnnProvider(QnnOptions(), plugin)
    )
    placed = DevicePlacements("fixed@qnn", "fixed@qnn", "fixed@qnn")
    source = tiny_qwen3("0.6b-customvoice")
    for speaks in (True, False):
        model = open_model(source, tmp_path, quant=FIXED_F32, placement=placed)
        predictor, talker, codec = model.remarks
        assert predictor == (
            "code predictor on the processor: qnn has no TopK (TopK_3) of frame.onnx"
        )
        assert talker == "talker on qnn (soc57-v75-f16): 52 of 52 greedy codes agree"
        assert codec.startswith("codec on qnn (soc57-v75-f16): ")
        assert codec.endswith(" dB")
        request = Request("Hello.", speaker=model.voices[0])
        if speaks:
            assert sum(len(chunk.pcm) for chunk in model.speak(request, seed=3).chunks) > 0
        model.close()
    assert len(plugin.compiled) == len(set(plugin.compiled)), "each once"
    assert {"codec-1", "codec-8", "talker-512-1", "talker-512-16"} <= set(plugin.compiled)
