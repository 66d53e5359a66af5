"""Audio as this project holds it: what it is, how it is read and written, and what is done to it.

`blocks` and `files` are spoken of everywhere and stand here; `downmix`, `gain` and `mel` are
imported from their modules by the few that compute with them. Why it is here:
docs/decisions/audio-in-core.md.
"""

from s2s.core.audio.blocks import (
    BLOCK_SAMPLES,
    PIPELINE_HZ,
    AudioError,
    Block,
    Framer,
    Resampler,
    empty,
    from_int16,
    resample,
    rms_db,
    to_int16,
    to_mono,
)
from s2s.core.audio.files import (
    FORMATS,
    MAX_FILE_HZ,
    MIN_FILE_HZ,
    check_output,
    check_writable,
    decode_sound,
    read_wav,
    write_sound,
    write_wav,
)

__all__ = [
    "BLOCK_SAMPLES",
    "FORMATS",
    "MAX_FILE_HZ",
    "MIN_FILE_HZ",
    "PIPELINE_HZ",
    "AudioError",
    "Block",
    "Framer",
    "Resampler",
    "check_output",
    "check_writable",
    "decode_sound",
    "empty",
    "from_int16",
    "read_wav",
    "resample",
    "rms_db",
    "to_int16",
    "to_mono",
    "write_sound",
    "write_wav",
]
