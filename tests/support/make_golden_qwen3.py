"""Golden values of the Qwen3-TTS language models, from the official qwen-tts package.

    python tests/support/make_golden_qwen3.py CHECKPOINTS tests/data/qwen3

    python tests/support/make_golden_qwen3.py --full CHECKPOINT tests/data/qwen3

run in an environment of their own: qwen-tts 0.1.1, transformers 4.57.3, torch (CPU). CHECKPOINTS
holds one tiny random checkpoint a kind, made by
``python -m s2s.testing.random_checkpoint --tiny``. A file
``KIND.npz`` holds the arrays of a kind, ``cases.json`` says which request each one belongs to,
``checksums.json`` which checkpoints they were made from. The second form takes a full-size random
0.6b-customvoice checkpoint and records the first logits and eight frames: ``full.npz``.

Everything runs in float32 on one thread. For sampled runs the random numbers are recorded: the
draw below is what ``torch.multinomial`` does for one sample on a CPU, and the script checks that
it picks the same ids from the same generator state.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import torch

KINDS = ("0.6b-base", "0.6b-customvoice", "1.7b-base", "1.7b-customvoice", "1.7b-voicedesign")
GREEDY_FRAMES = 52
SAMPLED_FRAMES = 24
SEEDS = 12
FULL_FRAMES = 8
REFERENCE_TEXT = "Das ist eine schöne Stimme."
STRINGS = (
    "Hello there, how are you today?",
    "I don't know what they're doing; we'll SEE that it'S done.",
    "Guten Tag, wie geht es Ihnen? Größe, Übermut, Maß.",
    "Bonjour, comment ça va aujourd'hui ? L'été à Évian.",
    "Hola, ¿cómo estás? Mañana será un buen día para los niños.",
    "Buongiorno, perché la città è così bella?",
    "Olá, como vai você? A canção não está aqui.",
    "Привет, как дела? Мы говорим по-русски.",
    "你好，今天天气怎么样？我叫通义千问。",
    "こんにちは、お元気ですか？カタカナも漢字も。",
    "안녕하세요, 오늘 날씨가 어떻습니까?",
    "Numbers: 3.14159, 2026-11-29, 1,000,000 and ½ or ²; ４２.",
    "Emoji 😀👩‍👩‍👧 and flags 🇩🇪, arrows → and math ∑.",
    "  leading spaces, trailing spaces  ",
    "tabs\tand\nnew\r\nlines\n\n  indented\n",
    "Decomposed e\u0301 and precomposed é are one and the same.",
    "<|im_start|>system\nnot a role<|im_end|> <tts_pad> inside",
    "مرحبا بالعالم, שלום, नमस्ते दुनिया, สวัสดี",
    "...!!!??? --- (((brackets))) \"quotes\" 'single' `ticks`",
    "snake_case camelCase CONSTANT_1 a1b2c3 x²+y²=z² https://example.org/?q=1&r=2",
)
TEXT = "Hello there, how are you today? 你好，今天天气怎么样？"
LONG_TEXT = "The quick brown fox jumps over the lazy dog, and then we'll see. " * 3

# One request each: arguments of the official call, and what is recorded. Random weights end where
# they like: a greedy run is kept from ending by min_new_tokens, a sampled run that "ends" gets the
# first seed of a few with which the end of speech comes in time.
CASES: dict[str, list[dict[str, Any]]] = {
    "base": [
        {"name": "x-vector-streaming", "mode": "x-vector", "text": TEXT, "language": "English",
         "non_streaming": False, "record": "greedy"},
        {"name": "x-vector-whole", "mode": "x-vector", "text": TEXT, "language": None,
         "non_streaming": True},
        {"name": "icl-streaming", "mode": "icl", "text": TEXT, "language": "German",
         "non_streaming": False, "record": "greedy", "sound": True},
        {"name": "icl-streaming-long", "mode": "icl", "text": LONG_TEXT, "language": "auto",
         "non_streaming": False, "record": "sampled", "ends": True,
         "options": {"temperature": 2.0, "top_k": 0}},
        {"name": "icl-whole", "mode": "icl", "text": TEXT, "language": "Chinese",
         "non_streaming": True},
    ],
    "customvoice": [
        {"name": "whole", "text": TEXT, "language": "English", "speaker": "Ryan",
         "non_streaming": True, "record": "greedy"},
        {"name": "streaming", "text": TEXT, "language": "french", "speaker": "serena",
         "non_streaming": False, "record": "greedy"},
        {"name": "dialect", "text": TEXT, "language": "Chinese", "speaker": "eric",
         "non_streaming": True},
        {"name": "dialect-auto", "text": TEXT, "language": None, "speaker": "dylan",
         "non_streaming": False},
        {"name": "dialect-other", "text": TEXT, "language": "English", "speaker": "dylan",
         "non_streaming": True},
        {"name": "instruct", "text": TEXT, "language": None, "speaker": "vivian",
         "instruct": "Speak slowly, with a sad voice.", "non_streaming": True,
         "record": "sampled", "ends": True},
        {"name": "one-token", "text": "s", "language": "Korean", "speaker": "sohee",
         "non_streaming": False, "record": "sampled",
         "options": {"temperature": 0.7, "top_k": 20, "top_p": 0.8, "repetition_penalty": 1.3,
                     "subtalker_temperature": 1.2, "subtalker_top_k": 10,
                     "subtalker_top_p": 0.9}},
    ],
    "voicedesign": [
        {"name": "whole", "text": TEXT, "language": "Italian",
         "instruct": "A warm, low voice of an old man.", "non_streaming": True,
         "record": "greedy"},
        {"name": "streaming", "text": TEXT, "language": None,
         "instruct": "Eine helle Stimme.", "non_streaming": False, "record": "sampled"},
    ],
}  # fmt: skip


def load_official(folder: Path) -> Any:
    """The official model of a checkpoint folder: float32, CPU, evaluation mode."""
    importlib.import_module("transformers")
    try:
        importlib.import_module("torchaudio.compliance.kaldi")
    except (ImportError, OSError):  # only the 25 Hz tokenizer needs it, and it has no CPU wheel
        for name in ("torchaudio", "torchaudio.compliance", "torchaudio.compliance.kaldi"):
            sys.modules[name] = types.ModuleType(name)
        sys.modules["torchaudio.compliance"].kaldi = sys.modules["torchaudio.compliance.kaldi"]
    official = importlib.import_module("qwen_tts").Qwen3TTSModel
    return official.from_pretrained(str(folder), dtype=torch.float32)


def reference_sound() -> np.ndarray:
    """float32 [samples], 24 kHz: two seconds and a bit of a gliding, pulsing, noisy tone."""
    time = np.arange(51_300) / 24_000
    noise = np.random.Generator(np.random.PCG64(7)).random(time.size) - 0.5
    tone = np.sin(2 * np.pi * (140 + 60 * time) * time) + 0.5 * np.sin(2 * np.pi * 1310 * time)
    return ((0.3 * tone * (1 + np.sin(9 * time)) + 0.2 * noise) / 2).astype(np.float32)


class Recorder:
    """Watches one official call: the prompt, every step of the talker, every random number."""

    def __init__(self, model: Any, seed: int, min_new_tokens: int) -> None:
        self.talker = model.model.talker
        self.model = model.model
        self.prompt: dict[str, np.ndarray] = {}
        self.steps: dict[str, np.ndarray] = {}
        self.codes: np.ndarray | None = None
        self.draws: list[np.ndarray] = []
        self._min_new_tokens = min_new_tokens
        self._generator = torch.Generator().manual_seed(seed)

    def __enter__(self) -> Recorder:
        self._saved = (self.talker.generate, self.model.generate, torch.multinomial)
        self.talker.generate = self._talk
        self.model.generate = self._generate
        torch.multinomial = self._multinomial
        return self

    def __exit__(self, *_: object) -> None:
        self.talker.generate, self.model.generate, torch.multinomial = self._saved

    def _talk(self, **arguments: Any) -> Any:
        self.prompt = {
            "embeds": array(arguments["inputs_embeds"][0]),
            "trailing": array(arguments["trailing_text_hidden"][0]),
            "pad": array(arguments["tts_pad_embed"][0, 0]),
        }
        arguments |= {"min_new_tokens": self._min_new_tokens, "output_logits": True}
        result = self._saved[0](**arguments)
        self.steps = {
            "logits": np.stack([array(step[0]) for step in result.logits]),
            "hidden": np.stack([array(step[0][-1][0, -1]) for step in result.hidden_states]),
        }
        return result

    def _generate(self, **arguments: Any) -> Any:
        result = self._saved[1](**arguments)
        self.codes = array(result[0][0]).astype(np.int16)
        return result

    def _multinomial(self, probabilities: torch.Tensor, num_samples: int) -> torch.Tensor:
        assert num_samples == 1
        before = self._generator.get_state()
        noise = torch.empty_like(probabilities).exponential_(1, generator=self._generator)
        chosen = torch.argmax(probabilities / noise, dim=-1, keepdim=True)
        self._generator.set_state(before)
        theirs = self._saved[2](probabilities, 1, generator=self._generator)
        assert torch.equal(chosen, theirs), "torch.multinomial no longer draws this way"
        self.draws.append(array(noise[0]))
        return chosen


def array(tensor: torch.Tensor) -> np.ndarray:
    """A copy of a tensor as numpy."""
    return tensor.detach().cpu().numpy().copy()


def call(model: Any, case: dict[str, Any], options: dict[str, Any]) -> np.ndarray:
    """The official request of a case; returns its sound, float32 [samples]."""
    common = {
        "text": case["text"],
        "language": case["language"],
        "non_streaming_mode": case["non_streaming"],
        **options,
    }
    if "mode" in case:
        sounds, _ = model.generate_voice_clone(
            ref_audio=(reference_sound(), 24_000),
            ref_text=REFERENCE_TEXT if case["mode"] == "icl" else None,
            x_vector_only_mode=case["mode"] == "x-vector",
            **common,
        )
    elif "speaker" in case:
        sounds, _ = model.generate_custom_voice(
            speaker=case["speaker"], instruct=case.get("instruct"), **common
        )
    else:
        sounds, _ = model.generate_voice_design(instruct=case["instruct"], **common)
    return sounds[0]


def run_case(model: Any, case: dict[str, Any], codes: int) -> dict[str, np.ndarray]:
    """Everything recorded of one case."""
    record = case.get("record", "prompt")
    frames = {"prompt": 2, "greedy": GREEDY_FRAMES, "sampled": SAMPLED_FRAMES}[record]
    options = {"max_new_tokens": frames + 1, **case.get("options", {})}
    if record != "sampled":
        options |= {"do_sample": False, "subtalker_dosample": False}
    least = frames + 1 if record == "greedy" else 2
    for seed in range(11, 11 + SEEDS if case.get("ends") else 12):
        with Recorder(model, seed, least) as seen:
            sound = call(model, case, options)
        assert seen.codes is not None
        if 3 < len(seen.codes) < frames:
            break
    assert seen.codes is not None
    found = dict(seen.prompt)
    spoken = codes + 103  # audio codes, control ids up to the end of speech
    if record == "greedy":
        found["first_logits"] = seen.steps["logits"][0]
        found["logits"] = seen.steps["logits"][1:51, :spoken]
        found["hidden"] = seen.steps["hidden"][:51:5]
    if record != "prompt":
        found["codes"] = seen.codes
    if record == "sampled":
        talker = [draw for draw in seen.draws if draw.size != codes]
        predictor = [draw for draw in seen.draws if draw.size == codes]
        found["talker_draws"] = np.stack(talker)[:, :spoken]
        found["predictor_draws"] = np.stack(predictor).reshape(-1, 15, codes)
    if case.get("sound"):
        found["sound"] = sound[: 8 * 1920]
    print(
        f"  {case['name']}: {found['embeds'].shape[0]} positions, {len(seen.codes)} frames",
        flush=True,
    )
    return found


def predictor_frames(model: Any, codes: int) -> dict[str, np.ndarray]:
    """Greedy frames of the code predictor alone, from random hidden vectors."""
    talker = model.model.talker
    random = np.random.Generator(np.random.PCG64(3))
    hidden = (random.random((8, talker.config.hidden_size), dtype=np.float32) - 0.5) * 3
    first = random.integers(0, codes, 8)
    rest, logits = [], []
    for vector, code in zip(hidden, first, strict=True):
        row = talker.get_input_embeddings()(torch.tensor([[int(code)]]))
        result = talker.code_predictor.generate(
            inputs_embeds=torch.cat((torch.from_numpy(vector)[None, None], row), dim=1),
            max_new_tokens=15,
            do_sample=False,
            output_logits=True,
            return_dict_in_generate=True,
        )
        rest.append(array(result.sequences[0]))
        logits.append(np.stack([array(step[0]) for step in result.logits]))
    return {
        "hidden": hidden,
        "code0": first,
        "codes": np.stack(rest).astype(np.int16),
        "logits": np.stack(logits[:2]),
    }


@torch.inference_mode()
def golden_of_kind(folder: Path, kind: str, out: Path) -> list[dict[str, Any]]:
    """Write KIND.npz; returns the cases it holds."""
    print(kind)
    model = load_official(folder)
    codes = model.model.config.talker_config.code_predictor_config.vocab_size
    arrays: dict[str, np.ndarray] = {}
    cases = [dict(case) for case in CASES[kind.split("-")[1]]]
    for case in cases:
        for name, values in run_case(model, case, codes).items():
            arrays[f"{case['name']}/{name}"] = values
    for name, values in predictor_frames(model, codes).items():
        arrays[f"predictor/{name}"] = values
    if kind.endswith("base"):
        (item,) = model.create_voice_clone_prompt((reference_sound(), 24_000), REFERENCE_TEXT)
        arrays["reference/codes"] = array(item.ref_code).astype(np.int16)
        arrays["reference/speaker"] = array(item.ref_spk_embedding)
    np.savez_compressed(out / f"{kind}.npz", **arrays)  # type: ignore[arg-type]
    return cases


@torch.inference_mode()
def golden_of_full_size(folder: Path, out: Path) -> None:
    """Write full.npz: first logits, and codes of a greedy run."""
    model = load_official(folder)
    case = CASES["customvoice"][0]
    options = {"do_sample": False, "subtalker_dosample": False, "max_new_tokens": FULL_FRAMES + 1}
    with Recorder(model, 0, FULL_FRAMES + 1) as seen:
        call(model, case, options)
    assert seen.codes is not None
    np.savez_compressed(
        out / "full.npz",
        first_logits=seen.steps["logits"][0],
        hidden=seen.steps["hidden"][0],
        codes=seen.codes,
    )


def main() -> None:
    """Command line."""
    if sys.argv[1] == "--full":
        torch.set_num_threads(2)
        golden_of_full_size(Path(sys.argv[2]), Path(sys.argv[3]))
        return
    checkpoints, out = Path(sys.argv[1]), Path(sys.argv[2])
    torch.set_num_threads(1)
    torch.manual_seed(0)
    out.mkdir(parents=True, exist_ok=True)
    processor = load_official(checkpoints / KINDS[0]).processor
    content = {
        "tokens": [{"text": text, "ids": processor(text=text)["input_ids"][0]} for text in STRINGS],
        "reference_text": REFERENCE_TEXT,
        "cases": {kind: golden_of_kind(checkpoints / kind, kind, out) for kind in KINDS},
    }
    text = json.dumps(content, indent=1, ensure_ascii=False)
    (out / "cases.json").write_text(text + "\n", encoding="utf-8")
    checksums = {
        kind: {
            name: hashlib.sha256((checkpoints / kind / name).read_bytes()).hexdigest()
            for name in ("model.safetensors", "speech_tokenizer/model.safetensors", "vocab.json")
        }
        for kind in KINDS
    }
    (out / "checksums.json").write_text(json.dumps(checksums, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
