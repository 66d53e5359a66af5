"""Which backends there are: stage -> name -> where it is and what it needs.

A backend's module is imported when the backend is chosen, not before. Every backend is a class
made as `Backend(config, resources)` with a frozen dataclass of its own as config.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, cast

from s2s.config import typed
from s2s.config.language_codes import with_language_codes
from s2s.core.untyped import is_mapping
from s2s.models.resources import Resources

if TYPE_CHECKING:
    from s2s.llm.base import ChatModel
    from s2s.stt.base import Transcriber
    from s2s.tts.base import Synthesizer

StageName = Literal["stt", "llm", "tts"]
STAGES: tuple[StageName, ...] = ("stt", "llm", "tts")


class RegistryError(RuntimeError):
    """A backend that does not exist or is not installed. The message says what to do."""


class UnknownBackendError(RegistryError):
    """A backend name that the registry does not have."""


def _lower_case(*keys: str) -> Callable[[Mapping[str, object]], dict[str, object]]:
    """A hook that takes the values of `keys` in any case: `Q4_K_M` is `q4_k_m`."""

    def normalise(options: Mapping[str, object]) -> dict[str, object]:
        return {
            key: value.lower() if key in keys and isinstance(value, str) else value
            for key, value in options.items()
        }

    return normalise


@dataclass(frozen=True, slots=True)
class StageBackend:
    """One entry of the registry."""

    stage: StageName
    name: str
    about: str
    factory: str
    """`module:Class` of the backend."""
    config: str
    """`module:Class` of its options."""
    extra: str
    """The extra of this package that brings what it needs; "" when it needs nothing more."""
    requires: tuple[str, ...] = ()
    """Modules it imports; `a|b` is either."""
    models: tuple[str, ...] = ()
    """Models of the manifest that its default options use."""
    model_prefix: str = ""
    """What the option `model` may leave out of a manifest name: `base` is `whisper-base`."""
    local: bool = True
    """Nothing leaves this machine."""
    server_option: str = ""
    """The option that names a server which does part of its work; "": there is none."""
    with_server: str = ""
    """`module:Class` of the backend where that option is set."""
    normalise: Callable[[Mapping[str, object]], dict[str, object]] = dict
    """Turns options as a user may write them into the fields of the config."""


BACKENDS: tuple[StageBackend, ...] = (
    StageBackend(
        stage="stt",
        name="moonshine",
        about="Moonshine tiny on onnxruntime: English, about 100 ms an utterance",
        factory="s2s.stt.moonshine:Moonshine",
        config="s2s.stt.moonshine:MoonshineConfig",
        extra="embedded",
        requires=("onnxruntime",),
        models=("moonshine-tiny-en",),
    ),
    StageBackend(
        stage="stt",
        name="faster-whisper",
        about="Whisper of any size on CTranslate2: 99 languages",
        factory="s2s.stt.faster_whisper:FasterWhisper",
        config="s2s.stt.faster_whisper:FasterWhisperConfig",
        extra="faster-whisper",
        requires=("faster_whisper",),
        models=("whisper-base",),
        model_prefix="whisper-",
    ),
    StageBackend(
        stage="stt",
        name="mlx-whisper",
        about="Whisper of any size on MLX, on Apple's processors: 99 languages",
        factory="s2s.stt.mlx_whisper:MlxWhisper",
        config="s2s.stt.mlx_whisper:MlxWhisperConfig",
        extra="mlx-whisper",
        requires=("mlx_whisper",),
    ),
    StageBackend(
        stage="stt",
        name="sherpa",
        about="streaming recognisers of sherpa-onnx: words every 160 ms, some 20 languages",
        factory="s2s.stt.sherpa:Sherpa",
        config="s2s.stt.sherpa:SherpaConfig",
        extra="sherpa",
        requires=("sherpa_onnx",),
    ),
    StageBackend(
        stage="stt",
        name="openai",
        about="a server that speaks OpenAI's transcription API",
        factory="s2s.stt.openai:OpenAiTranscriber",
        config="s2s.stt.openai:OpenAiTranscriberConfig",
        extra="openai",
        requires=("openai",),
        local=False,
    ),
    StageBackend(
        stage="llm",
        name="llama",
        about="any GGUF file in llama.cpp (wheels of xllamacpp, or llama-cpp-python)",
        factory="s2s.llm.llama:LlamaChat",
        config="s2s.llm.llama:LlamaConfig",
        extra="embedded",
        requires=("xllamacpp|llama_cpp", "jinja2"),
        models=("smollm2-135m",),
    ),
    StageBackend(
        stage="llm",
        name="openai",
        about="a server that speaks OpenAI's chat API (Ollama, vLLM, llama-server, OpenAI)",
        factory="s2s.llm.openai:OpenAiChat",
        config="s2s.llm.openai:OpenAiChatConfig",
        extra="openai",
        requires=("openai",),
        local=False,
    ),
    StageBackend(
        stage="tts",
        name="hibari",
        about="Hibari: one English voice, a sentence in 20 to 50 ms",
        factory="s2s.tts.backends.hibari:HibariTts",
        config="s2s.tts.backends.hibari:HibariConfig",
        extra="embedded",
        requires=("hibari", "onnxruntime"),
    ),
    StageBackend(
        stage="tts",
        name="piper",
        about="any Piper/VITS voice, streaming after a few frames, some 50 languages",
        factory="s2s.tts.backends.piper:Piper",
        config="s2s.tts.backends.piper:PiperConfig",
        extra="piper",
        requires=("piper", "onnxruntime"),
        models=("piper-joe",),
    ),
    StageBackend(
        stage="tts",
        name="kokoro",
        about="Kokoro-82M: 54 voices of eight languages, a natural voice for two quick cores",
        factory="s2s.tts.backends.kokoro.backend:Kokoro",
        config="s2s.tts.backends.kokoro.backend:KokoroConfig",
        extra="kokoro",
        requires=("hibari", "onnxruntime"),
        models=("kokoro-82m",),
    ),
    StageBackend(
        stage="tts",
        name="mms",
        about="MMS: a streaming VITS voice for each of a thousand languages (CC BY-NC 4.0)",
        factory="s2s.tts.backends.mms.backend:Mms",
        config="s2s.tts.backends.mms.backend:MmsConfig",
        extra="mms",
        requires=("onnxruntime",),
        normalise=with_language_codes,
    ),
    StageBackend(
        stage="tts",
        name="pocket",
        about="Pocket TTS: seven languages, cloned voices, streamed by 80 ms; needs torch",
        factory="s2s.tts.backends.pocket:Pocket",
        config="s2s.tts.backends.pocket:PocketConfig",
        extra="pocket",
        requires=("pocket_tts",),
        normalise=with_language_codes,
    ),
    StageBackend(
        stage="tts",
        name="chattts",
        about="ChatTTS: drawn speakers, English and Chinese; needs torch (AGPL; CC BY-NC 4.0)",
        factory="s2s.tts.backends.chattts:ChatTts",
        config="s2s.tts.backends.chattts:ChatTtsConfig",
        extra="chattts",
        requires=("ChatTTS",),
        normalise=with_language_codes,
    ),
    StageBackend(
        stage="tts",
        name="mlx-audio",
        about="mlx-audio on a Mac: Kokoro, Pocket TTS, Qwen3-TTS, CSM and others",
        factory="s2s.tts.backends.mlx_audio:MlxAudio",
        config="s2s.tts.backends.mlx_audio:MlxAudioConfig",
        extra="mlx-audio",
        requires=("mlx_audio",),
    ),
    StageBackend(
        stage="tts",
        name="qwen3",
        about="Qwen3-TTS 0.6B and 1.7B: ten languages, cloned, named and described voices",
        factory="s2s.tts.qwen3_adapter:Qwen3",
        config="s2s.tts.qwen3_adapter:Qwen3Config",
        extra="qwen3",
        requires=("onnxruntime", "xllamacpp|llama_cpp"),
        server_option="language_model",
        with_server="s2s.tts.backends.qwen3.hybrid:HybridQwen3",
        normalise=_lower_case("quant", "predictor_quant"),
    ),
    StageBackend(
        stage="tts",
        name="openai",
        about="a server that speaks OpenAI's speech API (speaches, Kokoro, vLLM-Omni, OpenAI)",
        factory="s2s.tts.backends.openai:OpenAiSpeech",
        config="s2s.tts.backends.openai:OpenAiSpeechConfig",
        extra="openai",
        requires=("openai",),
        local=False,
    ),
)


def backends(stage: StageName) -> tuple[StageBackend, ...]:
    """Every backend of a stage, the default first."""
    return tuple(backend for backend in BACKENDS if backend.stage == stage)


def find(stage: StageName, name: str) -> StageBackend:
    """The backend of that name.

    Raises:
        UnknownBackendError: there is none; names those there are and the nearest.
    """
    names = [backend.name for backend in backends(stage)]
    for backend in backends(stage):
        if backend.name == name:
            return backend
    near = difflib.get_close_matches(name, names, n=1)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise UnknownBackendError(
        f"no {stage} backend named {name}; there are {', '.join(names)}.{hint}"
    )


def missing(backend: StageBackend) -> tuple[str, ...]:
    """The required modules that are not installed, as written in `requires`."""
    return tuple(
        requirement
        for requirement in backend.requires
        if not any(_installed(module) for module in requirement.split("|"))
    )


def config_class(backend: StageBackend) -> type:
    """The dataclass of the backend's options.

    Raises:
        RegistryError: something it needs is not installed.
    """
    return cast(type, _load(backend, backend.config))


def backend_class(backend: StageBackend) -> type:
    """The class of the backend, which is made as `Backend(config, resources)`.

    Raises:
        RegistryError: something it needs is not installed.
    """
    return cast(type, _load(backend, backend.factory))


def create_transcriber(name: str, options: object | None, resources: Resources) -> Transcriber:
    """Make a speech-to-text backend; `options` None is its defaults.

    Raises:
        RegistryError: no such backend, or something it needs is not installed.
        Exception: whatever its constructor raises: a missing model, an option that makes no sense.
    """
    return cast("Transcriber", _create(find("stt", name), options, resources))


def create_chat_model(name: str, options: object | None, resources: Resources) -> ChatModel:
    """Make a language-model backend; as `create_transcriber`."""
    return cast("ChatModel", _create(find("llm", name), options, resources))


def create_synthesizer(name: str, options: object | None, resources: Resources) -> Synthesizer:
    """Make a text-to-speech backend; as `create_transcriber`."""
    return cast("Synthesizer", _create(find("tts", name), options, resources))


def _create(backend: StageBackend, options: object | None, resources: Resources) -> object:
    wanted = config_class(backend)
    if options is None:
        options = wanted()
    if not isinstance(options, wanted):
        raise RegistryError(
            f"{backend.stage} {backend.name} takes options of {wanted.__name__}, "
            f"not {type(options).__name__}."
        )
    name = backend.factory
    if backend.server_option and _value(options, backend.server_option) is not None:
        name = backend.with_server
    factory = cast(Callable[[object, Resources], object], _load(backend, name))
    return factory(options, resources)


def _value(options: object, name: str) -> object:
    """One option of a backend's config."""
    plain = typed.plain(options)
    return plain.get(name) if is_mapping(plain) else None


def _load(backend: StageBackend, reference: str) -> object:
    label = f"{backend.stage} backend {backend.name}"
    if lacking := missing(backend):
        raise RegistryError(
            f"{label} needs {', '.join(lacking).replace('|', ' or ')}. "
            f"Install it: pip install 's2s[{backend.extra}]'"
        )
    module, _, attribute = reference.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except ImportError as error:
        raise RegistryError(
            f"{label} cannot be imported ({error}). "
            f"Install it again: pip install --force-reinstall 's2s[{backend.extra}]'"
        ) from error


def _installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except (ImportError, ValueError):
        return False
