"""Whether words ask to remember, to forget, or what is remembered: by rules, in each language.

A small model cannot be relied on to call a tool, and a request that it misses is a promise broken;
so the words themselves decide (docs/decisions/memory.md). Only a whole utterance counts. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

MemoryKind = Literal["remember", "recall", "forget", "forget_all"]


@dataclass(frozen=True, slots=True)
class MemoryRequest:
    """What was asked for."""

    kind: MemoryKind
    what: str
    """What is to be remembered or forgotten, or what it is about; "" for all."""
    language: str
    """ISO 639-1 code of the rule that fits."""


@dataclass(frozen=True, slots=True)
class MemoryRules:
    """The rules of a language: regular expressions of a whole utterance without the sign at its
    end, in any case. `(?P<what>...)` is what it is about."""

    remember: tuple[str, ...]
    recall: tuple[str, ...]
    forget: tuple[str, ...]
    forget_all: tuple[str, ...]
    courtesy: str = ""
    """What may stand in front."""


_WHAT = r"(?P<what>.+)"
_SHORTEST = r"(?P<what>.+?)"
"""Where what is asked for stands behind it."""

RULES: dict[str, MemoryRules] = {
    "en": MemoryRules(
        (
            rf"(?:remember|note|keep in mind|make a note|(?:don't|do not|never) forget)"
            rf"(?: for me)?(?:,? that|:|, that| this:) {_WHAT}",
        ),
        (
            r"(?:tell me )?what (?:do|can) you remember(?: about (?P<what>.+))?",
            r"(?:tell me )?what do you know about me",
            r"what (?:did|have) I (?:tell|told) you to remember",
        ),
        (
            rf"(?:forget|don't remember|do not remember|stop remembering)"
            rf"(?: that| about| what I (?:said|told you) about|:) {_WHAT}",
        ),
        (
            r"forget (?:everything|all)(?: (?:that )?(?:you (?:remember|know)"
            r"|I (?:said|(?:have )?told you)))?(?: about me)?",
        ),
        r"(?:(?:hey|okay|ok|so|and|also|now|please)[, ]+)*"
        r"(?:(?:can|could|would|will) you )?(?:please,? )?",
    ),
    "de": MemoryRules(
        (
            rf"(?:merke?|behalte|notiere?)(?: dir| bitte)*(?:,? dass|:|,? das:) {_WHAT}",
            rf"(?:(?:kannst|könntest|würdest) du )?(?:dir )?(?:bitte )?merken(?:,? dass|:) {_WHAT}",
            rf"vergiss (?:bitte )?nicht(?:,? dass|:) {_WHAT}",
        ),
        (
            r"woran erinnerst du dich",
            r"was (?:hast du dir (?:alles )?gemerkt|merkst du dir)(?: über (?P<what>.+))?",
            r"was weißt du (?:noch |alles )*(?:über|von) mi[rc]h?",
        ),
        (
            rf"vergiss(?:,? bitte)?(?:,? dass|,? was ich (?:dir )?über|:) {_WHAT}",
            rf"vergiss (?:bitte )?das (?:mit|über|von) {_WHAT}",
        ),
        (
            r"vergiss (?:bitte )?alles(?:,? was (?:du (?:über mich )?weißt|du dir gemerkt hast"
            r"|ich (?:dir )?gesagt habe))?(?: über mich)?",
        ),
        r"(?:(?:hey|okay|ok|also|und|bitte)[, ]+)*",
    ),
    "fr": MemoryRules(
        (
            rf"(?:souviens-toi|souvenez-vous|rappelle-toi|rappelez-vous|retiens|retenez|notez?"
            rf"|n'oublie(?:z)? pas)(?: bien)? (?:que |qu'|: ?){_WHAT}",
        ),
        (
            r"(?:de quoi (?:te souviens-tu|tu te souviens|vous souvenez-vous)"
            r"|qu'est-ce que tu (?:as retenu|retiens))(?: (?:de|sur) (?P<what>.+))?",
            r"(?:que sais-tu|qu'est-ce que tu sais|que savez-vous) (?:de|sur) moi",
        ),
        (rf"oublie(?:z)? (?:que |qu'|ce que j'ai dit (?:de|sur|à propos de) |: ?){_WHAT}",),
        (r"oublie(?:z)? tout(?: ce que (?:tu sais|je t'ai dit|vous savez)(?: (?:de|sur) moi)?)?",),
        r"(?:(?:hé|ok|alors|et|s'il te plaît|s'il vous plaît)[, ]+)*",
    ),
    "es": MemoryRules(
        (
            rf"(?:recuerda|recuerde|acuérdate de|anota|apunta|ten en cuenta"
            rf"|no (?:te )?olvides(?: de)?)(?: que|:) {_WHAT}",
        ),
        (
            r"¿?(?:qué|que) (?:recuerdas|te acuerdas)(?: (?:de|sobre) (?P<what>.+))?",
            r"¿?de qué te acuerdas",
            r"¿?(?:qué|que) sabes (?:de|sobre) mí",
        ),
        (rf"(?:olvida|olvide|olvídate de)(?: que| lo de| lo que dije (?:de|sobre)|:) {_WHAT}",),
        (r"(?:olvida|olvide|olvídalo|olvídate de) todo(?: lo que (?:sabes|te dije)(?: de mí)?)?",),
        r"(?:(?:oye|vale|por favor|y)[, ]+)*",
    ),
    "it": MemoryRules(
        (
            rf"(?:ricorda(?:ti)?|tieni a mente|annota|prendi nota"
            rf"|non (?:ti )?dimenticare)(?: che|:) {_WHAT}",
        ),
        (
            r"(?:che )?(?:cosa|che) (?:ti )?ricordi(?: (?:di|su) (?P<what>.+))?",
            r"(?:che )?cosa sai di me",
        ),
        (rf"dimentica(?:ti)?(?: di)?(?: che| quello che ho detto (?:di|su)|:) {_WHAT}",),
        (r"dimentica(?:ti)?(?: di)? tutto(?: quello che (?:sai|ti ho detto)(?: di me)?)?",),
        r"(?:(?:ehi|ok|allora|per favore|e)[, ]+)*",
    ),
    "pt": MemoryRules(
        (
            rf"(?:lembra|lembre|recorda|recorde|anota|anote|não (?:te )?(?:esqueças|esqueça))"
            rf"(?:-te|-se)?(?: de)?(?: que|:) {_WHAT}",
        ),
        (
            r"(?:do|o) que (?:é que )?(?:você )?(?:te |se )?lembras?(?:-te|-se)?"
            r"(?: (?:de|sobre) (?P<what>.+))?",
            r"o que (?:é que )?(?:você )?(?:sabes?) (?:de|sobre) mim",
        ),
        (rf"(?:esquece|esqueça)(?:-te|-se)?(?: de)?(?: que| o que eu disse sobre|:) {_WHAT}",),
        (r"(?:esquece|esqueça)(?:-te|-se)?(?: de)? tudo(?: o que (?:você )?sabes?(?: de mim)?)?",),
        r"(?:(?:ei|ok|por favor|e)[, ]+)*",
    ),
    "nl": MemoryRules(
        (
            rf"(?:onthoud|noteer|vergeet niet)(?: alsjeblieft| even)?(?:,? dat|:) {_WHAT}",
            rf"(?:kun|kan) je (?:alsjeblieft )?onthouden(?:,? dat|:) {_WHAT}",
        ),
        (
            r"wat (?:heb je onthouden|onthoud je|herinner je je)(?: over (?P<what>.+))?",
            r"wat weet je (?:nog )?(?:over|van) mij",
        ),
        (rf"vergeet(?: maar)?(?: dat|,? wat ik zei over|:) {_WHAT}",),
        (r"vergeet alles(?: wat je (?:weet|hebt onthouden)| wat ik heb gezegd)?(?: over mij)?",),
        r"(?:(?:hé|oké|en|alsjeblieft)[, ]+)*",
    ),
    "pl": MemoryRules(
        (rf"(?:zapamiętaj|pamiętaj|zapisz|zanotuj|nie zapomnij)(?: proszę)?(?:,? że|:) {_WHAT}",),
        (
            r"co (?:pamiętasz|zapamiętałeś|zapamiętałaś)(?: o (?P<what>.+))?",
            r"co (?:o mnie wiesz|wiesz o mnie)",
        ),
        (rf"zapomnij(?:,? że| o tym,? że|,? co mówiłe?a?m o|:) {_WHAT}",),
        (r"zapomnij (?:o )?(?:wszystko|wszystkim)(?:,? co (?:o mnie )?wiesz)?",),
        r"(?:(?:hej|ok|i|proszę)[, ]+)*",
    ),
    "ru": MemoryRules(
        (
            rf"(?:запомни(?:те)?|запиши(?:те)?|не забудь(?:те)?)(?:, пожалуйста)?"
            rf"(?:,? что|:) {_WHAT}",
        ),
        (
            r"что ты (?:помнишь|запомнила?)(?: (?:о|об|про) (?P<what>.+))?",
            r"что ты знаешь обо мне",
        ),
        (rf"забудь(?:те)?(?:,? что| то,? что я говорила? (?:о|об|про)|:) {_WHAT}",),
        (r"забудь(?:те)? (?:вс[её]|обо всём)(?:,? что (?:ты )?(?:обо мне )?знаешь)?",),
        r"(?:(?:эй|ну|и|пожалуйста)[, ]+)*",
    ),
    "tr": MemoryRules(
        (
            rf"(?:şunu )?(?:hatırla|unutma|aklında tut|not al)[:,] {_WHAT}",
            rf"{_SHORTEST} (?:aklında tut|unutma|hatırla)",
        ),
        (r"ne(?:ler)?(?:yi|i)? hatırlıyorsun", r"(?:benim )?hakkımda ne(?:ler)? biliyorsun"),
        (rf"(?:şunu )?unut: {_WHAT}", rf"{_SHORTEST} unut"),
        (r"(?:hakkımdaki )?her şeyi unut",),
        r"(?:(?:hey|tamam|ve|lütfen)[, ]+)*",
    ),
    "zh": MemoryRules(
        (rf"(?:记住|记下(?:来)?|记一下|别忘了|不要忘记)[，,：:]?\s*{_WHAT}",),
        (
            r"你(?:还|都)?记(?:得|住了)(?:什么|些什么|哪些(?:事情?)?)",
            r"你知道我的?(?:什么|哪些事情?)",
        ),
        (rf"(?:忘记|忘掉|忘了)[，,：:]?\s*{_WHAT}",),
        (r"(?:忘记|忘掉|忘了)(?:一切|全部|所有(?:的)?(?:事情?|内容|东西)?)", r"全部忘(?:记|掉)"),
        r"(?:请|麻烦你?|帮我|你?要)*",
    ),
    "ja": MemoryRules(
        (
            rf"{_SHORTEST}(?:ということを|ことを|って|と|を)(?:覚えて|記憶して|メモして)(?:おいて)?"
            r"(?:ください|下さい|ね)?",
        ),
        (
            r"(?:何|なに)を覚えて(?:い)?(?:る|ます)(?:か|の)?",
            r"(?:私|僕|わたし)について(?:何|なに)を(?:覚えて|知って)(?:い)?(?:る|ます)(?:か|の)?",
        ),
        (rf"{_SHORTEST}(?:ということを|のことを|ことを|を|は)忘れて(?:ください|下さい|ね)?",),
        (r"(?:全部|すべて|全て)(?:を)?忘れて(?:ください|下さい|ね)?",),
    ),
    "ko": MemoryRules(
        (rf"{_SHORTEST}(?:라고|다고|다는 것을|는 것을|을|를|고) 기억해(?: ?줘| ?주세요| ?둬)?",),
        (
            r"(?:무엇을|뭐를|뭘|뭐) 기억(?:하고 있(?:어|니|나요|어요)|해|하니|하세요)",
            r"나에 대해 (?:무엇을|뭐를|뭘|뭐) (?:알아|알고 있(?:어|니|나요))",
        ),
        (rf"{_SHORTEST}(?:라는 것을|다는 것을|는 것을|을|를|은|는) 잊어(?: ?줘| ?버려| ?주세요)?",),
        (r"(?:전부|모두|다|모든 것을|모든 걸) 잊어(?: ?줘| ?버려| ?주세요)?",),
    ),
}
"""By ISO 639-1 code: the languages that apologies are in (`s2s.llm.apologies`)."""

NOTHING_NAMED = frozenset(
    re.findall(
        r"\S+",
        """it that this them me something everything es das ihn sie ça cela le la eso esto lo ello
        quello questo isso isto dat het dit to tym это её его bunu onu 它 这个 那个 それ これ 그것
        이것""",
    )
)
"""What one may forget or remember by these words is said elsewhere, where no rule sees it."""

_ENDS = ' .!?。！？…"”»“«'
_ORDER: tuple[MemoryKind, ...] = ("forget_all", "recall", "remember", "forget")


def memory_request(text: str) -> MemoryRequest | None:
    """What `text`, a whole utterance, asks of the memory; None: nothing."""
    said = " ".join(text.replace("’", "'").split()).strip(_ENDS)
    for kind in _ORDER:
        for language, rules in _COMPILED.items():
            for rule in rules[kind]:
                found = rule.fullmatch(said)
                if found is None:
                    continue
                what = (found.groupdict().get("what") or "").strip(f"{_ENDS},:;")
                if kind in ("remember", "forget") and (not what or what.lower() in NOTHING_NAMED):
                    continue
                return MemoryRequest(kind, what, language)
    return None


def _compiled(rules: MemoryRules) -> dict[MemoryKind, tuple[re.Pattern[str], ...]]:
    written: dict[MemoryKind, tuple[str, ...]] = {
        "remember": rules.remember,
        "recall": rules.recall,
        "forget": rules.forget,
        "forget_all": rules.forget_all,
    }
    return {
        kind: tuple(re.compile(rules.courtesy + rule, re.IGNORECASE) for rule in each)
        for kind, each in written.items()
    }


_COMPILED = {language: _compiled(rules) for language, rules in RULES.items()}
