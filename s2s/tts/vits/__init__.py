"""Piper/VITS voices as a stream: first sound after a few frames, the same sound as in one piece.

Usable alone, and entered through this module alone:

    from s2s.tts.vits import load_voice

    voice = load_voice("en_US-joe-medium.onnx")
    for sound in voice.speak("Hello there."):
        play(sound.samples)  # float32 at voice.sample_rate_hz

`load_engine` speaks phonemes, `prepare_voice` cuts a voice ahead of time and `verify_voice`
measures whether it loses anything by that. Whatever fails raises a `VitsError`.
"""

from s2s.tts.vits.encoding import Scales
from s2s.tts.vits.engine import OneShotEngine, Piece, Utterance, VitsEngine, load_engine
from s2s.tts.vits.errors import CutError, SpeechError, VitsError, VitsFileError, VitsVoiceError
from s2s.tts.vits.phonemes import EspeakPhonemizer, Phonemizer, make_phonemizer
from s2s.tts.vits.reference import Comparison
from s2s.tts.vits.speech import Manner, TimedSound, VitsVoice, load_voice
from s2s.tts.vits.split import Split, model_path, prepare_voice, split_pair, split_voice
from s2s.tts.vits.timing import Word
from s2s.tts.vits.verify import Verification, verify_voice
from s2s.tts.vits.voice import Streaming, VoiceConfig, config_path, read_config

__all__ = [
    "Comparison",
    "CutError",
    "EspeakPhonemizer",
    "Manner",
    "OneShotEngine",
    "Phonemizer",
    "Piece",
    "Scales",
    "SpeechError",
    "Split",
    "Streaming",
    "TimedSound",
    "Utterance",
    "Verification",
    "VitsEngine",
    "VitsError",
    "VitsFileError",
    "VitsVoice",
    "VitsVoiceError",
    "VoiceConfig",
    "Word",
    "config_path",
    "load_engine",
    "load_voice",
    "make_phonemizer",
    "model_path",
    "prepare_voice",
    "read_config",
    "split_pair",
    "split_voice",
    "verify_voice",
]
