"""Talker and code predictor of Qwen3-TTS on ExecuTorch itself, of the kind that the folder it is
given is named after: tests/tts/qwen3/executorch/test_language.py."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from s2s.testing.random_checkpoint import write_checkpoint
from s2s.tts.qwen3.checkpoint.safetensors import Checkpoint
from s2s.tts.qwen3.checkpoint.spec import read_spec
from s2s.tts.qwen3.convert import convert
from s2s.tts.qwen3.engine.language_model import LanguageModel
from s2s.tts.qwen3.executorch.language import ExecutorchCache, ExecutorchModel, load
from s2s.tts.qwen3.executorch.program import use_threads
from s2s.tts.qwen3.reference import ReferencePredictor, ReferenceTalker
from s2s.tts.qwen3.sampling import FirstCodes, Sampling, SeededDraws, probabilities
from tests.support.qwen3_golden import FRAMES, GOLDEN, STEPS, arrays, text_vector

Language = LanguageModel[ExecutorchCache, ExecutorchCache]
GREEDY = Sampling(greedy=True)
TOLERANCE = 1e-3
SAMPLINGS = {
    "of fifty": Sampling(temperature=0.9, top_k=50),
    "of all codes": Sampling(temperature=1.3, top_k=0),
    "of most": Sampling(temperature=0.9, top_k=50, top_p=0.9),
}
FOLDER = Path(sys.argv[1])
KIND, QUANTISED_KIND = FOLDER.name, "0.6b-base"
TOLD: dict[str, object] = {}


@cache
def official(kind: str) -> Path:
    """A tiny checkpoint."""
    return write_checkpoint(FOLDER / kind, kind)


@cache
def model(quant: str = "et-f32", draft_tokens: int = 0) -> ExecutorchModel:
    """Converted and opened."""
    folder = convert(official(KIND), quant, converted=FOLDER / "converted")
    return load(folder, read_spec(folder), draft_tokens)


def vectors(count: int, language: Language, seed: int = 3) -> np.ndarray:
    """float32 [count, H]"""
    width = language.spec.talker.hidden
    return np.random.default_rng(seed).standard_normal((count, width), dtype=np.float32)


def spoken(language: Language, known: dict[str, np.ndarray], case: str) -> list[list[int]]:
    """52 frames of a greedy case."""
    spec, embeds = language.spec, known[f"{case}/embeds"]
    first = FirstCodes(codes=spec.codes, eos=spec.ids.eos, sampling=GREEDY, min_new_tokens=2**62)
    talker = language.talker.new_state(len(embeds) + FRAMES)
    predictor, draws = language.predictor.new_state(), SeededDraws(0)
    out = language.talker.prefill(talker, embeds)
    frames: list[list[int]] = []
    for frame in range(FRAMES):
        code0 = first.choose(out.logits, draws)
        rest = language.predictor.frame(predictor, out.hidden, code0, GREEDY, draws)
        frames.append([code0, *rest.tolist()])
        vector = language.embeddings.frames(np.array([frames[-1]]))[0]
        out = language.talker.step(talker, vector + text_vector(known, case, frame))
    return frames


def farthest_logit(language: Language, known: dict[str, np.ndarray], case: str) -> float:
    """Prefill and fifty steps, fed with the official codes."""
    embeds, codes = known[f"{case}/embeds"], known[f"{case}/codes"].astype(np.int64)
    state = language.talker.new_state(len(embeds) + STEPS)
    out = language.talker.prefill(state, embeds)
    found = [np.abs(out.logits - known[f"{case}/first_logits"]).max()]
    found.append(np.abs(out.hidden - known[f"{case}/hidden"][0]).max())
    for frame, expected in enumerate(known[f"{case}/logits"]):
        vector = language.embeddings.frames(codes[frame][None])[0]
        out = language.talker.step(state, vector + text_vector(known, case, frame))
        found.append(np.abs(out.logits[: expected.size] - expected).max())
    return float(max(found))


def official_numbers() -> None:
    """Every case of the kind against the official package."""
    language, known = model().language, arrays(KIND)
    cases = [case["name"] for case in GOLDEN["cases"][KIND] if case.get("record") == "greedy"]
    for name in cases:
        TOLD[f"{name} logits"] = farthest_logit(language, known, name) <= TOLERANCE
        codes = known[f"{name}/codes"].tolist()
        TOLD[f"{name} codes"] = spoken(language, known, name) == codes
        TOLD[f"{name} drafted"] = spoken(model(draft_tokens=2).language, known, name) == codes
    state = language.predictor.new_state()
    pairs = zip(known["predictor/hidden"], known["predictor/code0"], strict=True)
    made = [
        language.predictor.frame(state, hidden, int(code0), GREEDY, SeededDraws(0)).tolist()
        for hidden, code0 in pairs
    ]
    TOLD["predictor"] = made == known["predictor/codes"].tolist()


def draws() -> None:
    """The same random numbers give the reference's codes."""
    language = model().language
    reference = ReferencePredictor(language.spec, Checkpoint(official(KIND)))
    for name, sampling in SAMPLINGS.items():
        mine, theirs = SeededDraws(5), SeededDraws(5)
        state, other = language.predictor.new_state(), reference.new_state()
        same = [
            language.predictor.frame(state, hidden, code0, sampling, mine).tolist()
            == reference.frame(other, hidden, code0, sampling, theirs).tolist()
            for code0, hidden in enumerate(vectors(20, language))
        ]
        TOLD[f"draws {name}"] = all(same)


def pieces() -> None:
    """Prefill in pieces, back and on again, past the size by which the memory grows."""
    language = model().language
    talker, rows = language.talker, vectors(600, language)
    reference = ReferenceTalker(language.spec, Checkpoint(official(KIND)))
    expected = reference.prefill(reference.new_state(600), rows)
    state = talker.new_state(600)
    talker.prefill(state, rows[:7])
    talker.prefill(state, rows[7:290] * 2)  # in blocks, past the size by which memory grows
    talker.rewind(state, 7)
    talker.prefill(state, rows[7:599])
    out = talker.step(state, rows[599])
    TOLD["pieces"] = bool(np.abs(out.logits - expected.logits).max() <= TOLERANCE)


def states() -> None:
    """Independent of each other and of the thread; results stay; errors say what is wrong."""
    language = model().language
    talker, parts = language.talker, vectors(10, language, 4).reshape(2, 5, -1)
    alone = [talker.prefill(talker.new_state(8), part).logits for part in parts]
    outs: list[np.ndarray] = []

    def speak(part: np.ndarray) -> None:
        state = talker.new_state(8)
        for row in part[:4]:
            talker.step(state, row)
        outs.append(talker.step(state, part[4]).logits)

    for part in parts:  # each in a thread that ends
        thread = threading.Thread(target=speak, args=(part,))
        thread.start()
        thread.join()
    near = [np.abs(out - want).max() < 1e-4 for out, want in zip(outs, alone, strict=True)]
    TOLD["threads that end"] = len(near) == 2 and all(near)
    state, rows = talker.new_state(3), vectors(3, language)
    TOLD["width"] = fails(lambda: talker.prefill(state, rows[:, :-1]), "wanted")
    kept = talker.prefill(state, rows)
    TOLD["no room"] = fails(lambda: talker.step(state, rows[0]), "no room")
    TOLD["cannot go back"] = fails(lambda: talker.rewind(state, 4), "cannot go back")
    before = kept.hidden.copy()
    talker.rewind(state, 1)
    talker.step(state, rows[0])
    TOLD["results stay"] = bool((kept.hidden == before).all())
    state.close()
    state.close()
    TOLD["closed"] = fails(lambda: talker.step(state, rows[0]), "closed")
    TOLD["max_positions"] = fails(lambda: talker.new_state(0), "max_positions")
    frame = language.predictor.new_state()
    frame.close()
    TOLD["closed frame"] = fails(
        lambda: language.predictor.frame(frame, rows[0], 0, GREEDY, SeededDraws(0)), "closed"
    )


def fails(call: Callable[[], object], message: str) -> bool:
    """The call raises a ValueError with this in its message."""
    try:
        call()
    except ValueError as error:
        return message in str(error)
    return False


def quantised() -> None:
    """Mean Kullback-Leibler divergence of the first code, and the share of predictor codes that
    are the same, of each quantisation: numbers, which the test holds against its tolerances."""
    exact = model().language
    rows = vectors(40, exact)
    for quant in ("et-8", "et-4"):
        rough = model(quant)
        states = exact.talker.new_state(40), rough.language.talker.new_state(40)
        found = []
        for row in rows:
            want, got = (
                probabilities(each.talker.step(state, row).logits, Sampling(temperature=1, top_k=0))
                for each, state in zip((exact, rough.language), states, strict=True)
            )
            found.append(float((want * np.log(want / got)).sum()))
        same = [
            np.mean(
                exact.predictor.frame(
                    exact.predictor.new_state(), hidden, code0, GREEDY, SeededDraws(0)
                )
                == rough.language.predictor.frame(
                    rough.language.predictor.new_state(), hidden, code0, GREEDY, SeededDraws(0)
                )
            )
            for code0, hidden in enumerate(rows[:20])
        ]
        TOLD[f"{quant} divergence"] = float(np.mean(found))
        TOLD[f"{quant} same codes"] = float(np.mean(same))
        TOLD[f"{quant} opened"] = f"{rough.quant} {rough.predictor_quant}"


use_threads(1)
official_numbers()
draws()
pieces()
states()
if KIND == QUANTISED_KIND:
    quantised()
print(json.dumps(TOLD))
