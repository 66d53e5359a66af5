"""Piper/VITS voices as a stream: first sound after a few frames, the same sound as in one piece.

Usable alone:

    from s2s.tts.vits import load_voice

    voice = load_voice("en_US-joe-medium.onnx")
    for sound in voice.speak("Hello there."):
        play(sound.samples)  # float32 at voice.sample_rate_hz
"""

from s2s.tts.vits.encoding import Scales, SpeechError
from s2s.tts.vits.engine import Engine, OneShotEngine, Piece, Utterance, load_engine
from s2s.tts.vits.graph.file import ModelFileError
from s2s.tts.vits.graph.graph import CutError
from s2s.tts.vits.speech import Manner, Sound, Voice, load_voice
from s2s.tts.vits.split import Split, split_pair, split_voice
from s2s.tts.vits.timing import Word
from s2s.tts.vits.voice import Streaming, VoiceConfig, VoiceError, read_config

__all__ = [
    "CutError",
    "Engine",
    "Manner",
    "ModelFileError",
    "OneShotEngine",
    "Piece",
    "Scales",
    "Sound",
    "SpeechError",
    "Split",
    "Streaming",
    "Utterance",
    "Voice",
    "VoiceConfig",
    "VoiceError",
    "Word",
    "load_engine",
    "load_voice",
    "read_config",
    "split_pair",
    "split_voice",
]
