"""Qwen3-TTS as a library: everything that others use of it, and the one way in.

    from pathlib import Path
    from s2s.tts.qwen3 import Request, open_model

    model = open_model("0.6b-customvoice", Path("~/qwen3"))
    for chunk in model.speak(Request("Hello.", speaker="ryan")).chunks:
        ...  # chunk.pcm: float32 [samples] at model.sample_rate_hz

Importing this package loads no runtime: each name is loaded when it is first used. What reads and
writes checkpoint files has a door of its own, `s2s.tts.qwen3.checkpoint`: why is said in
docs/decisions/qwen3-two-doors.md.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from s2s.tts.qwen3.backends import AUTO, BACKENDS, DEFAULT_QUANT
    from s2s.tts.qwen3.calibrate.cache import CalibrationCache, Speed
    from s2s.tts.qwen3.calibrate.conditions import LoadWatch, MeasuringConditions
    from s2s.tts.qwen3.calibrate.measure import Measurement, calibrate_model, keep_observed
    from s2s.tts.qwen3.calibrate.observed import Observed
    from s2s.tts.qwen3.calibrate.tune import SettingTrial
    from s2s.tts.qwen3.checkpoint.hub import PUBLISHED_SPEAKERS
    from s2s.tts.qwen3.checkpoint.spec import Generation, Kind, Spec
    from s2s.tts.qwen3.codec.decoder import CheckpointDecoder, CodecState
    from s2s.tts.qwen3.codec.open import open_decoder
    from s2s.tts.qwen3.convert import convert_model
    from s2s.tts.qwen3.diagnosis import Diagnosis, Foreseen, diagnose, foresee
    from s2s.tts.qwen3.engine.chunk_schedule import (
        FRAME_MS,
        ChunkSchedule,
        ScheduleConfig,
        edge_schedule,
    )
    from s2s.tts.qwen3.engine.costs import Costs
    from s2s.tts.qwen3.engine.decode_loop import Frame, Stop
    from s2s.tts.qwen3.engine.edges import UNTOUCHED, StartTrim
    from s2s.tts.qwen3.engine.engine import Speech
    from s2s.tts.qwen3.engine.report import Report
    from s2s.tts.qwen3.engine.sounding import Chunk
    from s2s.tts.qwen3.errors import Qwen3Error
    from s2s.tts.qwen3.executorch.export import ExportWish, export_model
    from s2s.tts.qwen3.folders import CALIBRATION_FILE, CONVERTED_FOLDER
    from s2s.tts.qwen3.model import DevicePlacements, Qwen3Model, open_model
    from s2s.tts.qwen3.native.packed_model import pack_model
    from s2s.tts.qwen3.parity.compare import RANDOM_WEIGHTS, Parity, open_parity, trace_table
    from s2s.tts.qwen3.parity.exact import exact_run
    from s2s.tts.qwen3.parity.quality import Quality, quality_table
    from s2s.tts.qwen3.parity.recorded import (
        RecordedComparison,
        compare_recorded,
        read_recorded,
        write_recorded,
    )
    from s2s.tts.qwen3.remote.language import RemoteServer
    from s2s.tts.qwen3.remote.model import RemoteModel, codec_format, open_remote_model
    from s2s.tts.qwen3.text.prompt import Reference, Request, check_request
    from s2s.tts.qwen3.text.segments import segments
    from s2s.tts.qwen3.text.stream import TextFeed
    from s2s.tts.qwen3.voices.enrol import (
        VOICE_RATE_HZ,
        EnrolledVoice,
        enrol_voice,
        enrolled_voice_path,
        enrolled_voices,
        open_speaker_encoder,
    )
    from s2s.tts.qwen3.voices.store import Voice, VoiceEntry

_NAMES = {
    "backends": "AUTO BACKENDS DEFAULT_QUANT",
    "calibrate.cache": "CalibrationCache Speed",
    "calibrate.conditions": "MeasuringConditions LoadWatch",
    "calibrate.measure": "Measurement calibrate_model keep_observed",
    "calibrate.observed": "Observed",
    "calibrate.tune": "SettingTrial",
    "engine.costs": "Costs",
    "checkpoint.hub": "PUBLISHED_SPEAKERS",
    "engine.decode_loop": "Frame Stop",
    "checkpoint.spec": "Generation Kind Spec",
    "codec.decoder": "CheckpointDecoder CodecState",
    "codec.open": "open_decoder",
    "convert": "convert_model",
    "diagnosis": "Diagnosis Foreseen diagnose foresee",
    "engine.chunk_schedule": "FRAME_MS ChunkSchedule ScheduleConfig edge_schedule",
    "engine.edges": "UNTOUCHED StartTrim",
    "engine.engine": "Speech",
    "engine.report": "Report",
    "engine.sounding": "Chunk",
    "errors": "Qwen3Error",
    "executorch.export": "ExportWish export_model",
    "folders": "CALIBRATION_FILE CONVERTED_FOLDER",
    "model": "DevicePlacements Qwen3Model open_model",
    "native.packed_model": "pack_model",
    "parity.compare": "RANDOM_WEIGHTS Parity open_parity trace_table",
    "parity.exact": "exact_run",
    "parity.quality": "Quality quality_table",
    "parity.recorded": "RecordedComparison compare_recorded read_recorded write_recorded",
    "remote.language": "RemoteServer",
    "remote.model": "RemoteModel codec_format open_remote_model",
    "text.prompt": "Reference Request check_request",
    "text.segments": "segments",
    "text.stream": "TextFeed",
    "voices.enrol": "VOICE_RATE_HZ EnrolledVoice enrol_voice enrolled_voice_path enrolled_voices "
    "open_speaker_encoder",
    "voices.store": "Voice VoiceEntry",
}
"""Where each name comes from."""

__all__ = [
    "AUTO",
    "BACKENDS",
    "CALIBRATION_FILE",
    "CONVERTED_FOLDER",
    "DEFAULT_QUANT",
    "FRAME_MS",
    "PUBLISHED_SPEAKERS",
    "RANDOM_WEIGHTS",
    "UNTOUCHED",
    "VOICE_RATE_HZ",
    "CalibrationCache",
    "CheckpointDecoder",
    "Chunk",
    "ChunkSchedule",
    "CodecState",
    "Costs",
    "DevicePlacements",
    "Diagnosis",
    "EnrolledVoice",
    "ExportWish",
    "Foreseen",
    "Frame",
    "Generation",
    "Kind",
    "LoadWatch",
    "Measurement",
    "MeasuringConditions",
    "Observed",
    "Parity",
    "Quality",
    "Qwen3Error",
    "Qwen3Model",
    "RecordedComparison",
    "Reference",
    "RemoteModel",
    "RemoteServer",
    "Report",
    "Request",
    "ScheduleConfig",
    "SettingTrial",
    "Spec",
    "Speech",
    "Speed",
    "StartTrim",
    "Stop",
    "TextFeed",
    "Voice",
    "VoiceEntry",
    "calibrate_model",
    "check_request",
    "codec_format",
    "compare_recorded",
    "convert_model",
    "diagnose",
    "edge_schedule",
    "enrol_voice",
    "enrolled_voice_path",
    "enrolled_voices",
    "exact_run",
    "export_model",
    "foresee",
    "keep_observed",
    "open_decoder",
    "open_model",
    "open_parity",
    "open_remote_model",
    "open_speaker_encoder",
    "pack_model",
    "quality_table",
    "read_recorded",
    "segments",
    "trace_table",
    "write_recorded",
]


def __getattr__(name: str) -> object:
    """A name of ``__all__``, loaded when it is first used. Raises AttributeError for another."""
    for module, names in _NAMES.items():
        if name in names.split():
            found: object = getattr(import_module(f"{__name__}.{module}"), name)
            globals()[name] = found
            return found
    raise AttributeError(f"{__name__} has no {name!r}; it has {', '.join(__all__)}")
