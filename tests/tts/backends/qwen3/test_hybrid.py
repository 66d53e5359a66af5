"""A device with the codec alone, and its language model on a server: the same samples as where all
of it is in one place, over real sockets."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from s2s.config import registry
from s2s.models.resources import Resources
from s2s.models.store import Store
from s2s.transport.server.config import ServeConfig
from s2s.tts.backends.qwen3.codes import Qwen3Codes
from s2s.tts.backends.qwen3.hybrid import HybridQwen3
from s2s.tts.base import AudioChunk, TtsError
from s2s.tts.codec_stream.feeding import TextFeed
from s2s.tts.qwen3_adapter import Qwen3, Qwen3Config
from tests.support.fake_vllm_omni import FakeVllmOmni, serving
from tests.support.patience import PATIENCE_S
from tests.support.serving import fake_server, served

TEXT = "A sentence that takes its time."


@pytest.fixture(scope="module")
def resources(tmp_path_factory: pytest.TempPathFactory) -> Resources:
    return Resources(Store(tmp_path_factory.mktemp("home")), threads=1)


def whole(folder: Path, **more: object) -> Qwen3Config:
    """All of it in one place, in wheels alone."""
    config = Qwen3Config(
        model=str(folder), quant="int4", core="onnx", codec="onnx", seed=3, threads=1
    )
    return replace(config, **more)  # pyright: ignore[reportArgumentType]


@contextmanager
def codes_of(voice: Qwen3, key: str | None = None) -> Iterator[str]:
    """Gives the address of a server that gives the codes of a voice."""
    with served(fake_server(ServeConfig(), key, codes=Qwen3Codes(voice))) as port:
        yield f"ws://127.0.0.1:{port}"


def chunks_of(who: Qwen3 | HybridQwen3, text: str = TEXT, **more: str) -> list[AudioChunk]:
    return list(who.synthesize(text, **more))


def sound_of(who: Qwen3 | HybridQwen3, text: str = TEXT, **more: str) -> list[float]:
    return np.concatenate([each.samples for each in chunks_of(who, text, **more)]).tolist()


@pytest.fixture(scope="module")
def local(tiny_qwen3: Callable[[str], Path], resources: Resources) -> Iterator[Qwen3]:
    with closing(Qwen3(whole(tiny_qwen3("1.7b-customvoice")), resources)) as made:
        yield made


@pytest.fixture(scope="module")
def address(local: Qwen3) -> Iterator[str]:
    with codes_of(local) as found:
        yield found


@pytest.fixture(scope="module")
def device(
    tiny_qwen3: Callable[[str], Path], resources: Resources, address: str
) -> Iterator[HybridQwen3]:
    config = whole(tiny_qwen3("1.7b-customvoice"), language_model=address)
    with closing(HybridQwen3(config, resources)) as made:
        yield made


def test_the_samples_are_those_of_one_place_to_the_bit(local: Qwen3, device: HybridQwen3) -> None:
    for text, more in (
        (TEXT, {}),
        ("Hi.", {"voice": "vivian"}),
        ("Bonjour.", {"voice": "dylan", "language": "fr"}),
    ):
        assert sound_of(device, text, **more) == sound_of(local, text, **more)
    told = device.synthesize_instructed(TEXT, "Whispered.")
    here = local.synthesize_instructed(TEXT, "Whispered.")
    assert [each.samples.tolist() for each in told] == [each.samples.tolist() for each in here]


def test_the_report_at_the_end_says_why_it_ended(local: Qwen3, device: HybridQwen3) -> None:
    there, here = chunks_of(device)[-1].report, chunks_of(local)[-1].report
    assert there is not None
    assert here is not None
    assert there.stop_reason == here.stop_reason
    assert there.measures["frames"] == here.measures["frames"]


def test_a_stop_ends_it_and_the_next_text_is_spoken_whole(
    local: Qwen3, device: HybridQwen3
) -> None:
    heard = 0

    def stop() -> bool:
        return heard > 0

    for chunk in device.synthesize(TEXT, stop=stop):
        heard += chunk.samples.size
    assert heard > 0
    assert sound_of(device) == sound_of(local)
    spoken = device.synthesize(TEXT)
    next(spoken)
    spoken.close()
    assert sound_of(device, "Hi.") == sound_of(local, "Hi.")


def test_what_the_server_refuses_is_told_in_its_words(device: HybridQwen3) -> None:
    with pytest.raises(TtsError, match=r"'nobody'; known: aiden, .*vivian"):
        chunks_of(device, voice="nobody")
    with pytest.raises(TtsError, match="no language 'Tlh'; known: en, zh"):
        chunks_of(device, language="tlh")


def test_warming_learns_voices_and_languages_and_how_fast_it_is(
    tiny_qwen3: Callable[[str], Path], resources: Resources, local: Qwen3, address: str
) -> None:
    config = whole(tiny_qwen3("1.7b-customvoice"), language_model=address, language="de")
    with closing(HybridQwen3(config, resources)) as device:
        assert device.capabilities.voices == ()
        device.warm()
        able = device.capabilities
        assert able.voices == local.capabilities.voices
        assert able.languages[0] == "de"
        assert set(able.languages) == set(local.capabilities.languages)
        assert device.real_time_factor > 0
        assert device.schedule.edge_costs is not None
        assert device.schedule.edge_costs.overlapped
        assert address in device.description
    with pytest.raises(TtsError, match="after it was closed"):
        chunks_of(device)


def test_a_decoder_of_other_weights_is_refused_before_anything_is_decoded(
    tiny_qwen3: Callable[[str], Path], resources: Resources, tmp_path: Path, address: str
) -> None:
    codec = tmp_path / "codec"
    codec.mkdir()
    for file in (tiny_qwen3("1.7b-customvoice") / "speech_tokenizer").iterdir():
        content = file.read_bytes()
        if file.name == "config.json":
            content += b"\n"
        (codec / file.name).write_bytes(content)
    with (
        closing(HybridQwen3(whole(codec, language_model=address), resources)) as device,
        pytest.raises(TtsError, match=r"the device's decoder is .*tts\.model as the server"),
    ):
        chunks_of(device)


def test_a_key_is_sent_from_the_environment(
    tiny_qwen3: Callable[[str], Path],
    resources: Resources,
    local: Qwen3,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with codes_of(local, key="secret") as address:
        config = whole(tiny_qwen3("1.7b-customvoice"), language_model=address)
        with (
            closing(HybridQwen3(config, resources)) as device,
            pytest.raises(TtsError, match="answered 401"),
        ):
            chunks_of(device)
        monkeypatch.setenv("S2S_API_KEY", "secret")
        with closing(HybridQwen3(config, resources)) as device:
            assert chunks_of(device)


def test_a_server_that_is_not_there_is_an_error_that_names_it(
    tiny_qwen3: Callable[[str], Path], resources: Resources
) -> None:
    config = whole(tiny_qwen3("1.7b-customvoice"), language_model="ws://127.0.0.1:9")
    with (
        closing(HybridQwen3(config, resources)) as device,
        pytest.raises(TtsError, match=r"ws://127\.0\.0\.1:9/v1/audio/speech/stream cannot be"),
    ):
        device.warm()
    with pytest.raises(TtsError, match=r"tts\.language_model: 'ftp://x' is no address"):
        HybridQwen3(replace(config, language_model="ftp://x"), resources)


def test_the_backend_of_the_registry_is_the_one_that_the_option_asks_for(
    tiny_qwen3: Callable[[str], Path], resources: Resources
) -> None:
    config = whole(tiny_qwen3("1.7b-customvoice"), language_model="ws://127.0.0.1:9")
    with closing(registry.create_synthesizer("qwen3", config, resources)) as made:
        assert isinstance(made, HybridQwen3)


# --- text that is still being written -------------------------------------------------------------


ONE_BY_ONE = {"initial_codec_chunk_frames": 1, "codec_chunk_frames": 1}
"""ONNX Runtime rounds otherwise in calls of another size, and when text comes decides on that."""


@pytest.fixture(scope="module")
def fed(tiny_qwen3: Callable[[str], Path], resources: Resources) -> Iterator[Qwen3]:
    config = whole(tiny_qwen3("1.7b-customvoice"), streaming_text=True, **ONE_BY_ONE)
    with closing(Qwen3(config, resources)) as made:
        yield made


@pytest.fixture(scope="module")
def fed_device(
    tiny_qwen3: Callable[[str], Path], resources: Resources, fed: Qwen3
) -> Iterator[HybridQwen3]:
    with codes_of(fed) as address:
        config = whole(tiny_qwen3("1.7b-customvoice"), language_model=address, **ONE_BY_ONE)
        with closing(HybridQwen3(config, resources)) as made:
            yield made


def written(who: Qwen3 | HybridQwen3, *pieces: str, **more: str) -> list[float]:
    """The sound of a text of which each piece comes once sound of the one before was heard."""
    feed, left = TextFeed(), list(pieces)

    def write() -> None:
        if left:
            feed.push(left.pop(0))
        else:
            feed.end()

    write()
    samples: list[float] = []
    for chunk in who.synthesize_written(feed, **more):
        samples += chunk.samples.tolist()
        write()
    assert feed.read(lambda: False) is None, "it is closed"
    return samples


def test_a_text_that_comes_while_it_is_spoken_sounds_as_in_one_place_to_the_bit(
    fed: Qwen3, fed_device: HybridQwen3
) -> None:
    pieces = ["Listen:", *(f" {each}" for each in TEXT.split())]
    here = written(fed, *pieces, language="en")
    assert len(here) > 24_000 * 0.08
    assert here == sound_of(fed, "".join(pieces), language="en")
    assert written(fed_device, *pieces, language="en") == here
    assert written(fed_device, "".join(pieces), language="en") == here
    vivian = written(fed, *pieces, voice="vivian", language="en")
    assert written(fed_device, *pieces, voice="vivian", language="en") == vivian


def test_what_the_server_does_with_text_is_learned_from_its_answers(
    fed_device: HybridQwen3, device: HybridQwen3
) -> None:
    chunks_of(fed_device, "Hi.", voice="dylan")
    assert fed_device.takes_words("dylan")
    assert not fed_device.takes_words("uncle_fu"), "it has not spoken with it"
    chunks_of(device, "Hi.", voice="dylan")
    assert not device.takes_words("dylan"), "as the authors do it"


def test_who_wants_no_words_spoken_along_is_not_asked(
    tiny_qwen3: Callable[[str], Path], resources: Resources, fed: Qwen3
) -> None:
    with codes_of(fed) as address:
        config = whole(tiny_qwen3("1.7b-customvoice"), language_model=address, streaming_text=False)
        with closing(HybridQwen3(config, resources)) as device:
            chunks_of(device, "Hi.")
            assert not device.takes_words()


def test_a_server_that_wants_whole_texts_speaks_what_was_fed_once_it_is_whole(
    local: Qwen3, device: HybridQwen3
) -> None:
    feed = TextFeed()
    for piece in ("A sentence", " that takes its", " time."):
        feed.push(piece)
    feed.end()
    samples = np.concatenate([each.samples for each in device.synthesize_written(feed)])
    assert samples.tolist() == sound_of(local)


def test_an_interruption_while_the_text_is_awaited_ends_both_ends(
    fed: Qwen3, fed_device: HybridQwen3
) -> None:
    expected = written(fed, "Hi.")
    for stopped in (False, True):
        feed, stop = TextFeed(), threading.Event()
        feed.push("A sentence that")
        spoken = fed_device.synthesize_written(feed, stop=stop.is_set)
        assert next(spoken).samples.size
        if stopped:
            stop.set()
            feed.close()
            assert not [each for each in spoken if each.samples.size]
        else:
            spoken.close()
        feed.push(" takes its time.")
        assert written(fed_device, "Hi.") == expected
    assert not [each for each in threading.enumerate() if each.name == "qwen3-dictation"]


def test_a_text_without_a_word_asks_nothing(fed_device: HybridQwen3) -> None:
    for stop in (False, True):
        feed = TextFeed()
        feed.end()
        assert list(fed_device.synthesize_written(feed, stop=lambda stop=stop: stop)) == []
        assert feed.read(lambda: False) is None


# --- a vLLM-Omni that runs the talker alone -------------------------------------------------------


def fake_of(folder: Path, **more: object) -> FakeVllmOmni:
    """A vLLM-Omni with a checkpoint whose codebooks are as small as the device's."""
    config = json.loads((folder / "speech_tokenizer" / "config.json").read_text("utf-8"))
    size = config["decoder_config"]["codebook_size"]
    return FakeVllmOmni(codebook_size=size, **more)  # pyright: ignore[reportArgumentType]


def hybrid_of(fake: FakeVllmOmni, folder: Path, resources: Resources) -> HybridQwen3:
    return HybridQwen3(whole(folder, language_model=fake.url, voice="vivian"), resources)


def test_vllm_omni_with_the_talker_alone_is_decoded_here(
    tiny_qwen3: Callable[[str], Path], resources: Resources, local: Qwen3
) -> None:
    folder = tiny_qwen3("1.7b-customvoice")
    decoder = local.model.parts.decoder
    codes = np.random.Generator(np.random.PCG64(5)).integers(1, decoder.codebook_size, (30, 16))
    with serving(fake_of(folder, frames=30, codes=codes)) as fake:
        with closing(hybrid_of(fake, folder, resources)) as device:
            for _ in range(2):  # on one socket
                heard = np.concatenate([each.samples for each in device.synthesize(TEXT)])
                state = decoder.new_state()
                parts = [codes[:1], codes[1:26], codes[26:]]
                pcm = np.concatenate([decoder.decode(state, part) for part in parts])
                # The first samples fade in, and silence in front is cut.
                assert heard[-1920:].tolist() == pcm[-1920:].tolist()
                assert len(heard) % 1920 == 0
        assert fake.connections == 1
        asked = fake.requests[0]
        assert (asked["output_mode"], asked["stream_audio"]) == ("codec_tokens", True)
        assert (asked["response_format"], asked["speed"]) == ("pcm", 1.0)
        assert (asked["voice"], asked["language"]) == ("vivian", "Auto")


def test_an_endless_answer_of_vllm_omni_is_aborted_by_a_stop(
    tiny_qwen3: Callable[[str], Path], resources: Resources
) -> None:
    folder = tiny_qwen3("1.7b-customvoice")
    with (
        serving(fake_of(folder, frames=-1)) as fake,
        closing(hybrid_of(fake, folder, resources)) as device,
    ):
        spoken = device.synthesize(TEXT)
        next(spoken)
        spoken.close()
        assert fake.aborted.wait(PATIENCE_S)
        fake.frames = 3
        assert chunks_of(device, "Hi.")


def test_of_a_lost_connection_what_came_is_spoken_and_the_next_text_reconnects(
    tiny_qwen3: Callable[[str], Path], resources: Resources
) -> None:
    folder = tiny_qwen3("1.7b-customvoice")
    with serving(fake_of(folder, breaks_after=5)) as fake:
        with closing(hybrid_of(fake, folder, resources)) as device:
            heard: list[AudioChunk] = []
            with pytest.raises(TtsError, match="closed the connection in the middle"):
                heard.extend(device.synthesize(TEXT))
            assert heard[-1].report is not None
            assert heard[-1].report.stop_reason == "lost"
            trimmed = int(heard[-1].report.measures["trimmed_frames"])
            assert sum(len(each.samples) for each in heard) == (5 - trimmed) * 1920
            fake.breaks_after = None
            assert sum(len(each.samples) for each in chunks_of(device)) >= 6 * 1920
        assert fake.connections == 2
