"""Words are found again in phonemes, whatever the phonemiser joined or split."""

from hypothesis import given
from hypothesis import strategies as st

from s2s.tts.vits.timing import assign_words, word_spans

SOUNDS = {
    "one": "wˈʌn",
    "of": "ˈʌv",
    "the": "ðˈə",
    "things": "θˈɪŋz",
    "1999": "nˈaɪntiːn nˈaɪnti nˈaɪn",
    "is": "ˈɪz",
    "here.": "hˈɪɹ.",
}


def owners_of(phonemes: str, *words: str) -> str:
    found = assign_words(list(phonemes), words, SOUNDS.__getitem__)
    assert len(found) == len(phonemes)
    return "".join(map(str, found))


def test_words_with_spaces() -> None:
    assert owners_of("wˈʌn θˈɪŋz", "one", "things") == "0000011111"


def test_joined_words_are_told_apart() -> None:
    assert owners_of("wˈʌn ʌvðə θˈɪŋz", "one", "of", "the", "things") == "000001122233333"


def test_a_number_is_one_word_of_three() -> None:
    phonemes = "nˈaɪntiːn nˈaɪnti nˈaɪn ɪz hˈɪɹ."
    assert owners_of(phonemes, "1999", "is", "here.") == "0" * 24 + "111" + "22222"


def test_marks_in_front_go_with_the_word_they_stress() -> None:
    assert owners_of("ɪz ˈhɪɹ.", "is", "here.") == "00011111"


def test_phonemes_that_match_nothing_are_shared_out() -> None:
    found = assign_words(list("xxxx"), ("one", "of"), SOUNDS.__getitem__)
    assert found == sorted(found)
    assert set(found) <= {0, 1}


def test_silence_only() -> None:
    assert assign_words([".", " "], ("the",), SOUNDS.__getitem__) == [0, 0]


@given(
    words=st.lists(st.sampled_from(sorted(SOUNDS)), min_size=1, max_size=8),
    phonemes=st.text("wʌnvðəθɪŋzaɪtihɹ ˈ.", max_size=40),
)
def test_the_order_of_words_is_kept(words: list[str], phonemes: str) -> None:
    found = assign_words(list(phonemes), words, SOUNDS.__getitem__)
    assert found == sorted(found)
    assert all(0 <= owner < len(words) for owner in found)


@given(words=st.lists(st.sampled_from(sorted(SOUNDS)), min_size=1, max_size=8))
def test_every_word_said_as_alone_is_found_whole(words: list[str]) -> None:
    phonemes = list(" ".join(SOUNDS[word] for word in words))
    found = assign_words(phonemes, words, SOUNDS.__getitem__)
    assert set(found) == set(range(len(words)))


def test_spans_of_words() -> None:
    text = " Well — that's $5.50, no? "
    assert [text[a:b] for a, b in word_spans(text)] == ["Well", "that's", "$5.50,", "no?"]
    assert word_spans("… — !") == []
