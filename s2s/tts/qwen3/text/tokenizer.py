"""Text to token ids: the byte-level BPE of Qwen2, from vocab.json and merges.txt.

In plain Python, because the rest of the core needs no tokenizer library: a sentence takes well
under a millisecond. Same ids as the fast tokenizer of transformers: added tokens are cut out of
the raw text first, the rest is brought to Unicode NFC, cut into words by Qwen2's regular
expression, and merged by rank. (When qwen-tts 0.1.1 loads a *local folder* whose config.json
names transformers 4.57.3 or later, transformers replaces that expression by Mistral's; loaded by
name it does not. This follows the latter, with which the models were trained.)
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt

from s2s.core.untyped import is_mapping
from s2s.tts.qwen3.checkpoint.fields import RESTORE
from s2s.tts.qwen3.checkpoint.spec import read_json
from s2s.tts.qwen3.errors import SpecError

# (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*
# |\s*[\r\n]+|\s+(?!\S)|\s+   with a letter for the class of each character (see class_of).
_CONTRACTION = re.compile(r"'(?:s|t|re|ve|m|ll|d)", re.IGNORECASE)
_WORD = re.compile(r"[SWO]?L+|N|S?O+R*|[SWR]*R+|[SWR]+(?![LNO])|[SWR]+")
_WHITE_SPACE = frozenset(
    map(chr, (*range(9, 14), 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029))
) | frozenset("\u202f\u205f\u3000")
_CACHED_WORDS = 20_000


@dataclass(frozen=True, slots=True)
class TokenizerParts:
    """What a tokenizer consists of.

    vocabulary: id by token in byte characters; ranks: of the pairs that are merged; added: id by
    text of the tokens that are never split, longest first.
    """

    vocabulary: Mapping[str, int]
    ranks: Mapping[tuple[str, str], int]
    added: Mapping[str, int]


class Tokenizer:
    """Encodes text; cheap to call, safe to share between threads."""

    def __init__(
        self,
        vocabulary: Mapping[str, int],
        merges: list[tuple[str, str]],
        added: Mapping[str, int],
    ) -> None:
        """vocabulary: id by token in byte characters; merges in order of rank; added: id by text
        of the tokens that are never split."""
        self._vocabulary = vocabulary
        self._ranks = {pair: rank for rank, pair in enumerate(dict.fromkeys(merges))}
        self._unranked = len(self._ranks)
        alternatives = sorted(added, key=len, reverse=True)
        self._added = {token: added[token] for token in alternatives}
        self._split = re.compile(f"({'|'.join(map(re.escape, alternatives))})") if added else None
        self._begun = frozenset(token[:at] for token in added for at in range(1, len(token)))
        self._longest = max(map(len, added), default=0)
        self._bytes = byte_characters()
        self._merge = lru_cache(_CACHED_WORDS)(self._merge_word)

    @classmethod
    def load(cls, folder: Path, rows: int | None = None) -> Tokenizer:
        """From a checkpoint folder; rows: of the text table, in which every id must lie.

        Raises SpecError when a file is missing or unreadable, an id lies outside the table, or a
        token is missing that some text needs.
        """
        file = folder / "vocab.json"
        vocabulary = {
            token: _row(index, rows, file, repr(token)) for token, index in read_json(file).items()
        }
        merges = _merges(folder / "merges.txt")
        needed = [*byte_characters(), *(left + right for left, right in merges)]
        for token in needed:
            if token not in vocabulary:
                raise SpecError(
                    "is missing, but merges.txt or a byte makes it",
                    file=file,
                    field=repr(token),
                    advice=RESTORE,
                )
        return cls(vocabulary, merges, _added_tokens(folder / "tokenizer_config.json", rows))

    @property
    def parts(self) -> TokenizerParts:
        """What it consists of."""
        return TokenizerParts(self._vocabulary, self._ranks, self._added)

    def encode(self, text: str) -> npt.NDArray[np.int64]:
        """Token ids of a text, added tokens included where they stand: int64 [n]."""
        return np.fromiter(self._ids(text), np.int64)

    def settled(self, text: str) -> int:
        """How many leading characters of a text that is still being written encode the same, on
        their own, whatever is yet to come; so does what follows them."""
        start = 0
        for found in self._split.finditer(text) if self._split else ():
            start = found.end()
        known = text[start:]
        begun = range(min(self._longest - 1, len(known)), 0, -1)
        known = known[: -next((n for n in begun if known[-n:] in self._begun), 0) or None]
        # Normal form is settled up to the last character that nothing before it composes with.
        cuts = [at for at, character in enumerate(known) if not at or not composes(character)]
        ends = set(_settled_ends(unicodedata.normalize("NFC", known)))
        settled = normal = 0
        for at, cut in pairwise(cuts):
            normal += len(unicodedata.normalize("NFC", known[at:cut]))
            if normal in ends:
                settled = cut
        return start + settled

    def _ids(self, text: str) -> Iterator[int]:
        pieces = self._split.split(text) if self._split else [text]
        for at, piece in enumerate(pieces):
            if at % 2:
                yield self._added[piece]
            else:
                for word in words(unicodedata.normalize("NFC", piece)):
                    yield from self._merge(word)

    def _merge_word(self, word: str) -> tuple[int, ...]:
        symbols = [self._bytes[byte] for byte in word.encode("utf-8", "replace")]
        while len(symbols) > 1:
            best = min(pairwise(symbols), key=lambda pair: self._ranks.get(pair, self._unranked))
            if best not in self._ranks:
                break
            symbols = _joined(symbols, best)
        return tuple(self._vocabulary[symbol] for symbol in symbols)


class TokenStream:
    """Encodes a text that comes in pieces: the ids of the whole, each as soon as it is settled."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._rest = ""

    def push(self, text: str) -> list[int]:
        """More text; returns the ids that are settled by it."""
        self._rest += text
        settled = self._tokenizer.settled(self._rest)
        ready, self._rest = self._rest[:settled], self._rest[settled:]
        return self._tokenizer.encode(ready).tolist()

    def end(self) -> list[int]:
        """No more text; returns the ids that are left."""
        ready, self._rest = self._rest, ""
        return self._tokenizer.encode(ready).tolist()


def words(text: str) -> Iterator[str]:
    """The pieces within which merges happen; joined they are the text."""
    classes = "".join(map(class_of, text))
    at = 0
    while at < len(text):
        found = _CONTRACTION.match(text, at) or _WORD.match(classes, at)
        assert found is not None  # every class begins some alternative
        yield text[at : found.end()]
        at = found.end()


def _settled_ends(text: str) -> Iterator[int]:
    """Where the words end that stay as they are when text is added: those that are followed by
    something, and white space by something else than white space."""
    end = 0
    for word in words(text):
        end += len(word)
        if not (text[end:] if word.strip() else text[end:].strip()):
            return
        yield end


def byte_characters() -> list[str]:
    """The printable character that stands for each byte in vocab.json, as in GPT-2."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    table = {byte: chr(byte) for byte in printable}
    others = (byte for byte in range(256) if byte not in table)
    table |= {byte: chr(256 + at) for at, byte in enumerate(others)}
    return [table[byte] for byte in range(256)]


def _joined(symbols: list[str], pair: tuple[str, str]) -> list[str]:
    """The symbols with every occurrence of the pair made one, from the left."""
    out: list[str] = []
    joinable = False  # the last of ``out`` is not itself a pair just joined
    for symbol in symbols:
        if joinable and (out[-1], symbol) == pair:
            out[-1] += symbol
            joinable = False
        else:
            out.append(symbol)
            joinable = True
    return out


@lru_cache(_CACHED_WORDS)
def class_of(character: str) -> str:
    """L letter, N number, R line end, S space, W other white space, O anything else."""
    if character.isalpha():
        return "L"
    if unicodedata.category(character).startswith("N"):
        return "N"
    if character in "\r\n":
        return "R"
    if character == " ":
        return "S"
    return "W" if character in _WHITE_SPACE else "O"


def composes(character: str) -> bool:
    """Whether NFC may make it one with a character before it: marks, and vowels and final
    consonants of Hangul."""
    return unicodedata.category(character).startswith("M") or "\u1160" <= character <= "\u11ff"


def _row(value: object, rows: int | None, file: Path, name: str) -> int:
    """An id, which is a row of the text table."""
    if type(value) is not int or value < 0:
        raise SpecError(f"is {value!r:.80}, no id", file=file, field=name, advice=RESTORE)
    if rows is not None and value >= rows:
        raise SpecError(
            f"is {value}, but text_vocab_size of config.json is {rows}",
            file=file,
            field=name,
            advice=RESTORE,
        )
    return value


def _merges(file: Path) -> list[tuple[str, str]]:
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise SpecError(f"{file} cannot be read: {error}; {RESTORE}") from error
    return [
        (left, right)
        for left, separator, right in (line.partition(" ") for line in text.split("\n"))
        if separator and left != "#version:"
    ]


def _added_tokens(file: Path, rows: int | None) -> dict[str, int]:
    field = "added_tokens_decoder"
    decoder = read_json(file).get(field)
    if not is_mapping(decoder) or not decoder:
        raise SpecError("is missing", file=file, field=field, advice=RESTORE)
    found: dict[str, int] = {}
    for index, token in decoder.items():
        name = f"{field}.{index}"
        content = token.get("content") if is_mapping(token) else None
        if not isinstance(content, str) or not content:
            raise SpecError("has no content", file=file, field=name, advice=RESTORE)
        number = int(index) if index.isdecimal() and len(index) < 12 else index
        found[content] = _row(number, rows, file, name)
    return found
