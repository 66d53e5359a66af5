"""The C interface against the Python core: the same codes and the same sound, to the bit; stopped
from anywhere; and no file, text or structure that does more harm than an error."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from s2s.tts.qwen3.checkpoint.codec_spec import read_codec_spec
from s2s.tts.qwen3.checkpoint.spec import Generation, read_spec
from s2s.tts.qwen3.codec.decoder import CodecState
from s2s.tts.qwen3.codec.open import open_decoder
from s2s.tts.qwen3.codec.silence import silent_codes
from s2s.tts.qwen3.engine.engine import Engine
from s2s.tts.qwen3.engine.stop_rules import Guards, StopReason
from s2s.tts.qwen3.native.language import NativePredictorState, NativeTalkerState, load
from s2s.tts.qwen3.native.library import load_kernel
from s2s.tts.qwen3.sampling import Sampling
from s2s.tts.qwen3.text.prompt import PromptBuilder, Reference, Request
from s2s.tts.qwen3.text.tokenizer import Tokenizer
from tests.tts.qwen3.native import c_interface as c
from tests.tts.qwen3.native.c_interface import CModel, CRequest, CSampling, Heard
from tests.tts.qwen3.native.packed_files import damaged

TEXT = "Hello there, it's 3 o'clock."
GREEDY = Generation(Sampling(greedy=True), Sampling(greedy=True), max_new_tokens=30)
REASONS = {
    StopReason.END: c.ENDED,
    StopReason.LIMIT: c.CUT,
    StopReason.SILENCE: c.SILENT,
    StopReason.REPETITION: c.REPEATING,
}
Packed = Callable[[str], Path]
Told = Callable[
    [str, Request, Generation, int, int], tuple[list[list[int]], np.ndarray, StopReason]
]


@pytest.fixture(scope="module")
def model(library: ctypes.CDLL, packed: Packed, kernel_cache: Path) -> Iterator[CModel]:
    level = load_kernel(kernel_cache).level.encode()
    with CModel(library, packed("0.6b-customvoice"), level=level) as opened:
        yield opened


@pytest.fixture
def told(
    kernel_cache: Path, graphs: Path, converted_qwen3: Callable[[str, str], Path]
) -> Iterator[Told]:
    """What Python speaks: frames, sound, and why it stopped."""
    engines: list[Engine[NativeTalkerState, NativePredictorState, CodecState]] = []

    def speak(
        kind: str, request: Request, generation: Generation, seed: int, drafts: int
    ) -> tuple[list[list[int]], np.ndarray, StopReason]:
        folder = converted_qwen3(kind, "q8_0")
        spec, codec_folder = read_spec(folder), folder / "speech_tokenizer"
        language = load(folder, spec, 2, cache=kernel_cache, draft_tokens=drafts).language
        decoder = open_decoder(
            codec_folder, graphs, threads=2, placement="native", kernels=kernel_cache
        )
        codec = read_codec_spec(codec_folder)
        engine = Engine(
            language,
            decoder,
            PromptBuilder(spec, Tokenizer.load(folder, spec.text_vocabulary), language.embeddings),
            samples_per_frame=decoder.samples_per_frame,
            sample_rate_hz=codec.sample_rate_hz,
            guards=Guards(silent_codes=silent_codes(codec_folder, codec, graphs, 1)),
        )
        engines.append(engine)
        speech = engine.speak(request, seed=seed, generation=generation)
        chunks = list(speech.chunks)
        codes = np.concatenate([chunk.codes for chunk in chunks])
        pcm = np.concatenate([chunk.pcm for chunk in chunks])
        reason = speech.report.stop_reason
        assert reason is not None
        return codes.tolist(), pcm, reason

    yield speak
    for engine in engines:
        engine.close()


def asked(model: CModel, request: Request, generation: Generation, seed: int) -> CRequest:
    """The same request in C. Texts and numbers are kept by ctypes as long as the structure."""

    def words(text: str | None) -> bytes | None:
        return None if text is None else text.encode()

    made = model.request(
        str(request.text),
        language=words(request.language),
        speaker=words(request.speaker),
        instruction=words(request.instruction),
        seed=seed,
        talker=CSampling.like(generation.talker),
        predictor=CSampling.like(generation.predictor),
        repetition_penalty=generation.repetition_penalty,
        min_new_tokens=generation.min_new_tokens,
        max_new_tokens=generation.max_new_tokens,
        streaming=-1 if request.streaming is None else int(request.streaming),
    )
    if request.reference is not None:
        voice = request.reference.speaker
        made.voice = (ctypes.c_float * voice.size)(*voice.tolist())
        made.voice_size = voice.size
    return made


VOICE = np.sin(np.arange(256, dtype=np.float32))
SPOKEN = {
    "0.6b-customvoice": [
        (Request(TEXT, speaker="ryan"), 2),
        (Request("你好，今天", speaker="eric", language="Chinese", streaming=True), 0),
    ],
    "0.6b-base": [(Request(TEXT, reference=Reference(VOICE)), 3)],
    "1.7b-customvoice": [
        (Request(TEXT, speaker="aiden", language="german", instruction="Whispering."), 2)
    ],
    "1.7b-voicedesign": [(Request(TEXT, instruction="A warm, low voice."), 7)],
}


@pytest.mark.parametrize("kind", SPOKEN)
def test_greedy_codes_and_sound_are_those_of_python(
    kind: str, library: ctypes.CDLL, packed: Packed, told: Told, kernel_cache: Path
) -> None:
    level = load_kernel(kernel_cache).level.encode()
    for request, drafts in SPOKEN[kind]:
        codes, pcm, reason = told(kind, request, GREEDY, 0, drafts)
        with CModel(library, packed(kind), level=level, draft_tokens=drafts) as model:
            heard = model.speak(asked(model, request, GREEDY, 0))
        assert heard.status == REASONS[reason], heard
        assert heard.frames == codes
        assert len(codes) > 5 or level == b"baseline"  # other bits, and so another end
        np.testing.assert_array_equal(heard.pcm, pcm)


@pytest.mark.parametrize("seed", [0, 2**40 + 5])
def test_a_seed_gives_the_speech_of_python(
    seed: int, library: ctypes.CDLL, packed: Packed, told: Told, kernel_cache: Path
) -> None:
    level = load_kernel(kernel_cache).level.encode()
    request = Request(TEXT, speaker="ryan")
    for generation in (
        Generation(max_new_tokens=30),
        Generation(
            Sampling(top_p=0.8, top_k=0, temperature=1.1), Sampling(top_p=0.9, top_k=20),
            repetition_penalty=1.3, max_new_tokens=30,
        ),
    ):  # fmt: skip
        codes, pcm, reason = told("0.6b-customvoice", request, generation, seed, 2)
        with CModel(library, packed("0.6b-customvoice"), level=level) as model:
            heard = model.speak(asked(model, request, generation, seed))
        assert heard.frames == codes
        assert heard.status == REASONS[reason]
        np.testing.assert_array_equal(heard.pcm, pcm)


def test_the_first_chunk_changes_no_sample(model: CModel) -> None:
    first, second = (
        model.speak(
            model.request(TEXT, speaker=b"Ryan", first_chunk_frames=frames, max_new_tokens=30)
        )
        for frames in (1, 25)
    )
    assert first.frames == second.frames
    np.testing.assert_array_equal(first.pcm, second.pcm)
    assert len(first.chunks[0]) <= model.library.frame_samples(model.pointer)


def test_tokens_may_be_given_instead_of_text(model: CModel) -> None:
    ids = model.tokens(TEXT)
    whole = model.speak(model.request(TEXT, speaker=b"ryan", max_new_tokens=12))
    given = model.request(speaker=b"ryan", max_new_tokens=12, token_count=len(ids))
    given.tokens = (ctypes.c_int32 * len(ids))(*ids)
    assert model.speak(given).frames == whole.frames
    given.tokens[0] = -1
    assert model.speak(given).status == c.NO_ARGUMENT
    assert model.error == "token -1 is none of the model's"


PIECES = st.sampled_from(
    ["<|im_end|>", "<|im_start|>", "\n", "\r\n", "  ", " \t ", "'S", "'ſ", "'ll", "e\u0301\u0323",
     "\u1100\u1161\u11a8", "가\u11a8", "\u0344", "\u0958", "한", "９", "½", "🙂", "\u00a0"]
)  # fmt: skip


@settings(max_examples=150)
@given(st.lists(st.one_of(st.text(max_size=8), PIECES, st.text("a 'é\u0301\n1.", max_size=9))))
def test_tokens_are_those_of_python(
    model: CModel, converted_qwen3: Callable[[str, str], Path], pieces: list[str]
) -> None:
    text = "".join(pieces).replace("\0", "").encode("utf-8", "ignore").decode()
    tokenizer = tokenizer_of(converted_qwen3("0.6b-customvoice", "q8_0"))
    whole = tokenizer.encode(f"<|im_start|>assistant\n{text}<|im_end|>\n<|im_start|>assistant\n")
    assert model.tokens(text) == whole[3:-5].tolist()


@lru_cache
def tokenizer_of(folder: Path) -> Tokenizer:
    return Tokenizer.load(folder)


def test_what_is_no_utf8_is_refused(model: CModel) -> None:
    for bad in (b"\xff", b"a\xc3", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\x80"):
        request = model.request(speaker=b"ryan")
        request.text = bad
        assert model.speak(request).status == c.NO_ARGUMENT
        assert model.error == "the text is no UTF-8"


def test_a_stop_from_another_thread_ends_it_before_its_next_frame(model: CModel) -> None:
    def stop(_: Heard) -> int:
        other = threading.Thread(target=model.library.stop, args=(model.pointer,))
        other.start()
        other.join(30)
        return 0

    request = model.request(TEXT, speaker=b"ryan", first_chunk_frames=3, max_new_tokens=20)
    heard = model.speak(request, stop)
    assert (heard.status, len(heard.chunks), len(heard.frames)) == (c.STOPPED, 1, 3)
    assert model.speak(request).status == c.CUT  # the next one is whole again


def test_a_callback_stops_it(model: CModel) -> None:
    request = model.request(TEXT, speaker=b"ryan", first_chunk_frames=2, max_new_tokens=20)
    assert len(model.speak(request, lambda _: 1).chunks) == 1
    for after in (0, 1, 7):
        asked = iter(range(after + 1000))
        heard = model.speak(request, stop=lambda times=asked, after=after: next(times) >= after)
        assert heard.status == c.STOPPED
        assert len(heard.frames) <= after


def test_a_model_that_speaks_is_busy(model: CModel) -> None:
    request = model.request(TEXT, speaker=b"ryan")
    seen: list[int] = []

    def again(_: Heard) -> int:
        seen.append(model.speak(request).status)
        return 1

    assert model.speak(request, again).status == c.STOPPED
    assert seen == [c.BUSY]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"text": b"", "speaker": b"ryan"}, "there is nothing to say: the text is empty"),
        ({"text": None, "speaker": b"ryan"}, "there is neither a text nor tokens of one"),
        ({"speaker": b"nobody"}, 'unknown speaker "nobody"; the first known is '),
        ({"speaker": None}, 'unknown speaker ""'),
        ({"speaker": b"ryan", "language": b"klingon"}, 'unknown language "klingon"'),
        ({"speaker": b"ryan", "voice_size": 4, "voice": (ctypes.c_float * 4)()}, "only a Base"),
        ({"speaker": b"ryan", "first_chunk_frames": 26}, "first_chunk_frames is 26: from 1 to 25"),
        ({"speaker": b"ryan", "talker": CSampling(0, 1, 0.0, 1.0)}, "sampling: temperature"),
        ({"speaker": b"ryan", "max_new_tokens": 1}, "max_new_tokens from 2 to 65536"),
        ({"speaker": b"ryan", "size": 4}, "the request has a size of 4 where "),
        ({"speaker": b"ryan", "size": 4000}, "take the library of your header"),
        ({"speaker": b"ryan", "text": b"a " * 40000}, "too long"),
        ({"speaker": b"ryan", "text": b"a" * (1 << 21)}, "are spoken at once"),
    ],
)
def test_what_cannot_be_spoken_is_said(
    fields: dict[str, object], words: str, model: CModel
) -> None:
    request = model.request(TEXT)
    for name, value in fields.items():
        setattr(request, name, value)
    heard = model.speak(request)
    assert heard.status == c.NO_ARGUMENT
    assert words in model.error
    assert not heard.chunks


def test_an_older_program_knows_less_of_a_structure(model: CModel) -> None:
    """Its request ends before the field that was added last."""
    size = CRequest.untouched.offset
    older = (ctypes.c_uint8 * (size + 8))(*[0xAA] * (size + 8))
    request = ctypes.cast(older, ctypes.POINTER(CRequest))
    model.library.default_request(model.pointer, request, size)
    assert bytes(older[size:]) == b"\xaa" * 8
    request.contents.text, request.contents.speaker = TEXT.encode(), b"ryan"
    request.contents.max_new_tokens = 12
    whole = model.speak(model.request(TEXT, speaker=b"ryan", max_new_tokens=12))
    assert model.speak(request.contents).frames == whole.frames


def test_what_a_model_is(model: CModel, converted_qwen3: Callable[[str, str], Path]) -> None:
    spec = read_spec(converted_qwen3("0.6b-customvoice", "q8_0"))
    library, pointer = model.library, model.pointer
    assert library.version() == 1
    assert library.sample_rate(pointer) == 24000
    assert library.frame_codes(pointer) == spec.groups
    assert library.voice_size(pointer) == spec.talker.hidden
    assert model.names("speaker") == list(spec.speakers)
    assert "german" in model.names("language")
    assert not any("dialect" in name for name in model.names("language"))


def test_samples_become_whole_numbers(library: ctypes.CDLL) -> None:
    values = np.array([0, 1, -1, 0.5, 2, -2, 1.4 / 32768, -1.6 / 32768, np.nan], np.float32)
    found = np.empty(values.size, np.int16)
    library.to_int16(
        values.ctypes.data_as(ctypes.POINTER(ctypes.c_float)), values.size, found.ctypes.data
    )
    assert found.tolist() == [0, 32767, -32768, 16384, 32767, -32768, 1, -2, -32768]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"level": b"avx3"}, 'executes no level "avx3"; the library has: '),
        ({"threads": 0}, "threads is 0: from 1 to 16"),
        ({"draft_tokens": 8}, "draft_tokens is 8: from 0 to 7"),
        ({"size": 3}, "the options has a size of 3"),
    ],
)
def test_options_that_cannot_be_had_are_said(
    options: dict[str, object], words: str, library: ctypes.CDLL, packed: Packed
) -> None:
    with pytest.raises(c.OpenError) as error:
        CModel(library, packed("0.6b-base"), **options)
    assert words in str(error.value)


def test_what_is_no_packed_model_is_said(
    library: ctypes.CDLL, packed: Packed, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    whole = packed("0.6b-base").read_bytes()
    for content, words in (
        (b"", "is no packed model"),
        (whole[:32] + b"\0\0\0\0" + whole[36:], "by another version of s2s"),
        (whole[:8] + b"\7" + whole[9:], "has format 7, this library reads 1"),
        (b"GGUF" + bytes(100), "is no packed model"),
        (whole[:-1], "copy it again"),
    ):
        other.write_bytes(content)
        with pytest.raises(c.OpenError, match=words):
            CModel(library, other)
    for path in (tmp_path / "missing", tmp_path):
        with pytest.raises(c.OpenError):
            CModel(library, path)


@settings(max_examples=15)
@given(data=st.data())
def test_a_file_that_is_not_trusted_gives_an_error_or_speaks(
    data: st.DataObject, library: ctypes.CDLL, packed: Packed,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:  # fmt: skip
    """The same under AddressSanitizer: test_speech_sanitized.py."""
    content = damaged(packed("0.6b-customvoice").read_bytes(), data)
    path = tmp_path_factory.mktemp("hostile") / "file"
    path.write_bytes(content)
    said = ""
    try:
        opened = CModel(library, path)
    except c.OpenError as error:
        said = str(error)
        opened = None
    if opened is None:
        assert said
        return
    with opened:
        heard = opened.speak(opened.request(TEXT, speaker=b"ryan", max_new_tokens=6))
        assert heard.status >= 0 or opened.error
