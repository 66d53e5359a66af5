"""How a loaded model runs best on this machine: cores, codec, threads, draft tokens; measured once,
kept with when and how, and kept only when nothing else computed meanwhile.

Belongs after everything else is loaded: docs/decisions/qwen3-measuring.md.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from s2s.tts.qwen3.backends import device_placement
from s2s.tts.qwen3.calibrate import probe
from s2s.tts.qwen3.calibrate.cache import Speed
from s2s.tts.qwen3.calibrate.conditions import LoadWatch, MeasuringConditions
from s2s.tts.qwen3.calibrate.observed import Observed
from s2s.tts.qwen3.calibrate.tune import ROUNDS, SettingTrial, Speak, fastest, quick, tune
from s2s.tts.qwen3.codec.open import codecs_here
from s2s.tts.qwen3.engine.chunk_schedule import ScheduleConfig
from s2s.tts.qwen3.engine.report import Report
from s2s.tts.qwen3.errors import BackendError, Qwen3Error
from s2s.tts.qwen3.model import Qwen3Model
from s2s.tts.qwen3.text.prompt import Request

log = logging.getLogger(__name__)

Measure = Callable[[], float]
"""Milliseconds a frame."""

STEPS = 4
"""Cores, codecs, settings, what a frame costs: as progress counts them."""
_BUSY = 0.5
"""Cores that others use, beyond which trying one setting after the other tells nothing."""
_WARM_FRAMES = 9
_WHAT = "measuring this machine"


@dataclass(frozen=True, slots=True)
class Measurement:
    """How a model runs here. ``trials``: what was tried, empty for what was known already."""

    speed: Speed
    key: str
    """Under which it is kept."""
    trials: tuple[SettingTrial, ...] = ()
    kept: bool = True
    """False for one that something else disturbed: it holds until the end of the session."""


def calibrate_model(
    model: Qwen3Model,
    request: Request,
    draft_tokens: int | None,
    watch: LoadWatch,
    *,
    before: MeasuringConditions | None = None,
    afresh: bool = False,
) -> Measurement:
    """Use the core, codec, threads and draft tokens with which ``model`` is fastest, as measured
    before or now, and speak once unheard.

    request: of some seconds. draft_tokens: None tries; a number stays. before: of the time in which
    everything was loaded: a machine that others keep busy is not measured. afresh: whatever is
    known already.
    """

    def speak(frames: int, schedule: ScheduleConfig) -> Report:
        watch.look()
        return model.speak_frames(request, frames, schedule)

    key = _key(model, draft_tokens)
    known = model.opening.cache.speed(key)
    if known is not None and not afresh and not _undecided(model):
        model.use_threads(known.threads)
        model.use_draft_tokens(known.draft_tokens)
        speak(_WARM_FRAMES, ScheduleConfig(codec_chunk_ramp=(1, _WARM_FRAMES - 1)))
        return Measurement(known, key)
    if before is not None and before.others_cores > _BUSY and not afresh:
        return Measurement(_in_passing(model, speak, draft_tokens, watch), key, kept=False)
    found = _measured(model, speak, draft_tokens, watch)
    if not found.kept:  # once more: it may have been a moment
        log.info("qwen3: %s", found.speed.conditions)
        found = _measured(model, speak, draft_tokens, watch)
    return found


def keep_observed(model: Qwen3Model, key: str, observed: Observed) -> None:
    """Keep what the utterances of a session showed, if it is enough: the next session plans by it,
    and chooses another core when this one turned out to be slower than it."""
    correction = observed.correction
    if correction is None:
        return
    opening, language = model.opening, model.language
    opening.cache.keep_speed(key, correction)
    if language.talker == language.predictor:
        opening.cache.correct_backend(opening.language_key, str(language.talker), observed.factor)


def _in_passing(
    model: Qwen3Model, speak: Speak, draft_tokens: int | None, watch: LoadWatch
) -> Speed:
    """What a frame takes now, with what usually is best."""
    watch.begin()
    model.use_draft_tokens(draft_tokens or 0)
    speak(_WARM_FRAMES, ScheduleConfig())  # the first is slower than all others
    found = quick(speak, model.threads, draft_tokens or 0, overlapped=model.overlapped)
    return found.under(watch.conditions())


def _measured(
    model: Qwen3Model, speak: Speak, draft_tokens: int | None, watch: LoadWatch
) -> Measurement:
    """Everything, once through; kept if nothing else computed."""
    opening = model.opening
    watch.begin()
    opening.progress(_WHAT, 0, STEPS)
    cores = _try_cores(model, watch)
    opening.progress(_WHAT, 1, STEPS)
    codecs = _try_codecs(model, watch)
    opening.progress(_WHAT, 2, STEPS)
    tuned = tune(model, speak, model.threads, draft_tokens, overlapped=model.overlapped)
    opening.progress(_WHAT, STEPS, STEPS)
    conditions, key = watch.conditions(), _key(model, draft_tokens)
    speed = tuned.speed.under(conditions)
    if conditions.good:
        cache = opening.cache
        cache.keep_backends(opening.language_key, {each.what: each.best_ms for each in cores})
        cache.keep_backends(opening.codec_key, {each.what: each.best_ms for each in codecs})
        cache.keep_speed(key, speed)
    named = [_named("core", each) for each in cores] + [_named("codec", each) for each in codecs]
    return Measurement(speed, key, (*named, *tuned.trials), conditions.good)


def _try_cores(model: Qwen3Model, watch: LoadWatch) -> tuple[SettingTrial, ...]:
    """What a frame takes on each core there is to choose from; the model is on the fastest then."""
    choice, opening = model.choice, model.opening

    def measure(name: str) -> Measure:
        place = device_placement(name)
        here = model.language.talker == model.language.predictor == place
        loaded = model.language if here else opening.language((place, place))
        return partial(probe.language_ms, loaded.language)

    trials, best = _best(choice.cores.places, measure, watch)
    if best is not None:
        model.move(
            talker=best if choice.talker else None, predictor=best if choice.predictor else None
        )
    return trials


def _try_codecs(model: Qwen3Model, watch: LoadWatch) -> tuple[SettingTrial, ...]:
    """Likewise for what decodes."""
    parts = model.parts

    def measure(name: str) -> Measure:
        here = parts.codec == name
        decoder = parts.decoder if here else model.opening.decoder(model.folder, name)
        if decoder.remark:
            raise BackendError(decoder.remark)
        return partial(probe.decoded_ms, decoder)

    trials, best = _best(codecs_here() if model.choice.codec else [], measure, watch)
    if best is not None:
        model.move(codec=best)
    return trials


def _best(
    names: Sequence[str], measure: Callable[[str], Measure], watch: LoadWatch
) -> tuple[tuple[SettingTrial, ...], str | None]:
    """What each took, in turn with the others, and the fastest; neither where there is no choice.
    One that does not work here takes for ever."""
    if len(names) < 2:
        return (), None
    measures: dict[str, Measure] = {}
    for name in names:
        try:
            measures[name] = measure(name)
        except Qwen3Error as error:
            log.warning("qwen3: %s does not work here: %s", name, error)
    found = probe.in_turn(measures, ROUNDS)
    watch.look()
    trials = tuple(SettingTrial(name, found.get(name, (math.inf,))) for name in names)
    return trials, fastest(found) if found else None


def _named(part: str, trial: SettingTrial) -> SettingTrial:
    return SettingTrial(f"{part} {trial.what}", trial.frame_ms)


def _undecided(model: Qwen3Model) -> bool:
    """There is more than one core or codec to choose from, and not all of them were measured."""
    opening, cache = model.opening, model.opening.cache
    cores: Sequence[str] = model.choice.cores.places
    codecs = codecs_here() if model.choice.codec else []
    return any(
        len(names) > 1 and not set(names) <= set(cache.backends(key))
        for names, key in ((cores, opening.language_key), (codecs, opening.codec_key))
    )


def _key(model: Qwen3Model, draft_tokens: int | None) -> str:
    return f"{model.calibration_key} {draft_tokens}"
