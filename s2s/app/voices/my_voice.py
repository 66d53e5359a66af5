"""The command `voices me`: enrol the voice that is listened to, show it, erase it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from s2s.core.audio import PIPELINE_HZ, Block, read_wav, resample, to_mono
from s2s.core.audio.gain import raised
from s2s.models.store import Store
from s2s.transport.devices import choose, list_devices, portaudio
from s2s.turns.speaker.enrolment import (
    EnrolmentError,
    VoicePrint,
    enrolled_path,
    erase_enrolled,
    read_enrolled,
    write_enrolled,
)
from s2s.turns.speaker.own_voice import KnownVoice, enrol

if TYPE_CHECKING:
    from s2s.config.schema import Config
    from s2s.turns.speaker.embedder import SpeakerEmbedder

SECONDS = 10.0
"""Of speech that is asked for."""

SENTENCES = (
    "Read this aloud, or say what you like, as you usually speak: When the sunlight strikes "
    "raindrops in the air, they act as a prism and form a rainbow. The rainbow is a division of "
    "white light into many beautiful colours."
)


def enrol_me(config: Config, store: Store, recording: Path | None) -> int:
    """Enrol the voice of `recording`, None: of who speaks into the microphone now."""
    from s2s.app.voice_activity import open_vad

    embedder = open_embedder(config, store)
    audio = _recorded(config) if recording is None else read_wav(recording, PIPELINE_HZ)[0]
    heard = raised(audio, PIPELINE_HZ)
    voice = enrol(heard.samples, open_vad(config.models.vad, store).open(), embedder)
    path = write_enrolled(store.root, voice)
    print(f"your voice, from {voice.speech_s:.1f} s of speech, is two vectors in {path}")
    print("from now on others are not answered. Off: --session.turns.speaker.mode off")
    print("erase it: python -m s2s voices me --erase")
    return 0


def show_me(store: Store) -> int:
    """Tell whether a voice is enrolled, and where it is kept."""
    voice = read_enrolled(store.root)
    if voice is None:
        print("no voice is enrolled: everybody is answered. Enrol yours: python -m s2s voices me")
        return 0
    print(_told(store, voice))
    return 0


def erase_me(store: Store) -> int:
    """Forget the enrolled voice."""
    path = enrolled_path(store.root)
    print(f"{path}: erased" if erase_enrolled(store.root) else "no voice was enrolled")
    return 0


def open_embedder(config: Config, store: Store) -> SpeakerEmbedder:
    """The embedder that is configured, its model fetched if it is not here."""
    from s2s.turns.speaker.embedder import SpeakerEmbedder

    return SpeakerEmbedder(store.path(config.models.speaker), config.models.speaker)


def own_voice(config: Config, store: Store) -> KnownVoice | None:
    """The voice that a session listens to; None: to everybody.

    Raises:
        EnrolmentError: a voice is wanted and none is enrolled, or it is of another embedder.
    """
    mode = config.session.turns.speaker.mode
    voice = None if mode == "off" else read_enrolled(store.root)
    if voice is None:
        if mode == "on":
            raise EnrolmentError(
                "session.turns.speaker.mode is on, and no voice is enrolled. Enrol yours: "
                "python -m s2s voices me"
            )
        return None
    if voice.model != config.models.speaker:
        raise EnrolmentError(
            f"the enrolled voice was made with {voice.model}, and models.speaker is "
            f"{config.models.speaker}. Enrol it again: python -m s2s voices me"
        )
    return KnownVoice(open_embedder(config, store), voice.vectors)


def _told(store: Store, voice: VoicePrint) -> str:
    return (
        f"your voice: {voice.vectors.size} numbers by {voice.model} from {voice.speech_s:.1f} s of "
        f"speech, in {enrolled_path(store.root)}\nerase it: python -m s2s voices me --erase"
    )


def _recorded(config: Config) -> Block:
    """Ten seconds from the microphone, float32 [samples] at 16 kHz."""
    sd = portaudio()
    device = choose(list_devices(sd), config.audio.input_device, output=False)
    print(f"{SENTENCES}\nListening to {device.name} for {SECONDS:.0f} s ...", flush=True)
    with sd.InputStream(
        device=device.index, samplerate=device.rate_hz, channels=1, dtype="float32"
    ) as stream:
        heard, _ = stream.read(int(SECONDS * device.rate_hz))
    return resample(to_mono(np.asarray(heard, dtype=np.float32)), device.rate_hz, PIPELINE_HZ)
