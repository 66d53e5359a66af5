"""Letters, formulas, styled characters, tags and control tokens: each kind walked as a whole."""

from __future__ import annotations

import re
import unicodedata
from itertools import product

import pytest

from s2s.tts.text import speakable
from tests.support.heard_tables import LANGUAGES

# --- letters are Roman numerals only where the language makes them so (K2) ----------------------


@pytest.mark.parametrize("letter", "CDLM")
@pytest.mark.parametrize("cue", ["Type", "Class", "Section", "Part", "Grade", "Appendix",
    "Group", "Table", "Figure",
                                 "Category", "Unit", "Level", "Stage", "Schedule", "Vitamin",
                                 "Plan", "Hepatitis",
                                 "Chapter", "Volume", "Book", "Factor", "Title", "Phase",
                                 "Step"])  # fmt: skip
def test_a_single_letter_above_ten_is_a_letter(cue: str, letter: str) -> None:
    for text in (
        f"Take {cue} {letter} now.",
        f"It is {cue} {letter}.",
        f"{cue} {letter}, then stop.",
    ):
        assert f"{cue} {letter}" in speakable(text, "en").text


@pytest.mark.parametrize("letter", "ABCDEFGHJKLMNOPQRSTUVWXYZ")
@pytest.mark.parametrize(
    "name", ["John", "George", "Henry", "William", "James", "Mary", "Robert", "David", "Charles"]
)
def test_an_initial_is_a_letter(name: str, letter: str) -> None:
    assert speakable(f"{name} {letter}. Rockefeller gave it away.", "en").text == (
        f"{name} {letter} Rockefeller gave it away."
    )


@pytest.mark.parametrize("text", [
    "the book I read", "that class I took", "the level I reached", "the part I like",
    "The Class I took was fine.",
    "Vitamin D and vitamin C", "Class CC amplifiers", "Volume CD", "the MC said so",
    "Malcolm X spoke.", "an XL shirt",
    "a DC motor", "Mary, I think so", "MIX it", "Plan X", "Brand X", "a CV", "Section DC",
    "I did it.", "size XXL",
])  # fmt: skip
def test_words_and_abbreviations_are_no_numerals(text: str) -> None:
    spoken = speakable(text, "en").text.lower()
    numbers = "one|two|four|five|six|nine|ten|first|second|forty|fifty|hundred|thousand|tenth|ninth"
    assert not re.search(rf"\b(?:{numbers})\b", spoken), spoken


@pytest.mark.parametrize(("language", "text", "said"), [
    ("en", "Henry V won.", "Henry the Fifth"), ("en", "Pope John XXIII", "John the Twenty-third"),
    ("en", "King Charles I was executed.", "Charles the First"), ("en", "Super Bowl LVIII",
    "fifty-eight"),
    ("en", "Chapter XL", "forty"), ("en", "type I error", "type one error"), ("en", "Rocky IV",
    "four"),
    ("en", "World War I began.", "War one"), ("en", "Part V", "Part five"), ("en", "Louis Ⅻ",
    "Louis the Twelfth"),
    ("de", "Ludwig XIV. war König.", "Ludwig der Vierzehnte war"), ("de", "Papst Pius XII.",
    "der Zwölfte"),
    ("de", "im XX. Jahrhundert", "zwanzigsten"), ("de", "Kapitel IV", "vier"), ("de",
    "Vitamin C", "Vitamin C"),
    ("fr", "Louis XIV", "quatorze"), ("fr", "François Ier", "premier"), ("fr", "le XXe siècle",
    "vingtième siècle"),
    ("fr", "vitamine C", "vitamine C"), ("fr", "Le Ve siècle", "cinquième"), ("es", "Felipe II",
    "segundo"),
    ("es", "el siglo XIX", "diecinueve"), ("es", "Isabel II", "segunda"), ("es", "vitamina D",
    "vitamina D"),
    ("it", "Giovanni XXIII", "ventitreesimo"), ("it", "il XX secolo", "ventesimo secolo"),
    ("it", "vitamina C", "vitamina C"), ("pt", "Dom Pedro II", "segundo"), ("pt", "século XX",
    "vinte"),
    ("pt", "vitamina C", "vitamina C"), ("zh", "第II次世界大战", "第二次"), ("zh", "维生素C",
    "维生素C"),
    ("zh", "XX公司", "XX公司"), ("ja", "ローマ数字Ⅳ", "四"), ("ja", "ビタミンC", "ビタミンC"),
])  # fmt: skip
def test_numerals_by_language(language: str, text: str, said: str) -> None:
    assert said in speakable(text, language).text


# --- formulas: readable or skipped, never raw (K9) ----------------------------------------------

FORMULAS = (
    r"\frac{3}{8}", r"\dfrac{a}{b}", r"\frac{\frac{1}{2}}{3}", r"\frac12", r"\sqrt{2}",
    r"\sqrt[3]{8}", r"\sqrt[n]{x}",
    r"\left( \frac{a}{b} \right)^2", r"\left[ x \right]", r"\left\{ x \right\}",
    r"\bigl( x \bigr)", r"\alpha + \beta",
    r"x^{2}", r"x^{n+1}", r"e^{-x}", r"10^{-6}", r"x_{i}", r"x_i^2", r"\sum_{i=1}^{n} i",
    r"\int_0^1 f(x)\,dx",
    r"\lim_{x \to 0} \sin x", r"\text{if } x > 0", r"\mathbf{v} \cdot \vec{w}",
    r"a \leq b \neq c \approx d",
    r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}",
    r"\begin{cases} 1 & x > 0 \\ 0 & x \le 0 \end{cases}",
    r"\begin{aligned} a &= b \\ c &= d \end{aligned}", r"\overline{AB}", r"\unknowncommand{x}",
    r"\foo x",
    r"\operatorname{rank}(A)", r"\mathbb{R}^n", r"\binom{n}{k}", r"a \times b \div c \pm d",
    r"\infty", r"50\%",
    r"\underbrace{a+b}_{c}", r"\ce{H2O}", r"\boxed{42}", r"\color{red} x", r"f'(x)", r"|x|",
    r"\|v\|", r"n!",
    r"\frac{", r"\sqrt", r"x^", r"x_", r"{}", r"\begin{x}", r"}{", r"\left", r"a~b",
    r"\nabla \cdot \partial",
)  # fmt: skip
RAW = re.compile(
    r"[\\{}^_$&~]|\b(?:frac|dfrac|sqrt|left|right|begin|end|pmatrix|cases|aligned|cdot|times|leq|neq|approx"
    r"|alpha \+|mathbf|mathbb|text|vec|overline|operatorname|binom|infty|underbrace|boxed|quad|ce"
    r"|unknowncommand"
    r"|foo|bigl|bigr|color|red)\b"
)


@pytest.mark.parametrize("language", [*LANGUAGES, "ko", "ru", "nl"])
@pytest.mark.parametrize("frame", ["{}", "${}$", "$${}$$", r"\({}\)", r"\[{}\]",
    "So ${}$ is it.", "是${}$。",
                                   "\n$$\n{}\n$$\n",
                                   r"\begin{{equation}}{}\end{{equation}}"])  # fmt: skip
def test_no_formula_is_raw(language: str, frame: str) -> None:
    for formula in FORMULAS:
        if frame == "{}" and re.search(
            r"\\(?:foo|unknown|begin\{x|\||%|left\Z)|^[x}{|]|\\frac\{\Z", formula
        ):
            continue  # without delimiters nothing says that it is a formula
        text = frame.format(formula)
        spoken = speakable(text, language).text
        found = [raw for raw in RAW.findall(spoken) if not (language == "en" and raw in {"times"})]
        assert found == [], f"{language} {text!r} -> {spoken!r}"


@pytest.mark.parametrize(("language", "text", "said"), [
    ("en", r"$\sqrt[3]{8}$", "the cube root of eight"), ("en", r"$\sqrt[5]{x}$",
    "the fifth root of x"),
    ("en", r"$\frac{\frac{1}{2}}{3}$", "one half over three"), ("en", r"$x^{-2}$",
    "x to the power of minus two"),
    ("en", r"\alpha and \beta", "alpha and beta"), ("en", r"$a - b$", "a minus b"), ("en",
    r"\sqrt{16} = 4",
     "the square root of sixteen equals four"), ("de", r"$\frac{3}{8}$", "drei Achtel"), ("de",
     r"$x^2$", "x hoch zwei"),
    ("fr", r"$x^2 + \sqrt{9}$", "x au carré plus racine carrée de neuf"), ("es", r"$x^3$",
    "x al cubo"),
    ("it", r"$\frac{1}{2}$", "un mezzo"), ("pt", r"$2 \times 3 = 6$",
    "dois vezes três igual a seis"),
    ("zh", r"$\frac{1}{2}$", "二分之一"), ("zh", r"$x^3$", "x的立方"), ("zh", r"$\sqrt{16}=4$",
    "根号十六等于四"),
    ("ja", r"$x^2$", "xの二乗"), ("ja", r"$2 \times 3 = 6$", "二かける三イコール六"),
])  # fmt: skip
def test_formulas_are_read(language: str, text: str, said: str) -> None:
    assert speakable(text, language).text == said


# --- characters that show plain ones (K10) ------------------------------------------------------


@pytest.mark.parametrize("code", range(0x1D400, 0x1D7FF + 1, 26))
def test_styled_letters_are_what_they_show(code: int) -> None:
    for char in map(chr, range(code, min(code + 26, 0x1D800))):
        if unicodedata.category(char) == "Cn":
            continue
        plain = unicodedata.normalize("NFKC", char)
        assert speakable(f"x{char}x", "en").text == speakable(f"x{plain}x", "en").text


DIGIT_FORMS = {
    "keycap": lambda n: f"{n}\ufe0f\u20e3", "bare keycap": lambda n: f"{n}\u20e3",
    "fullwidth": lambda n: chr(0xFF10 + n),
    "bold": lambda n: chr(0x1D7CE + n), "mono": lambda n: chr(0x1D7F6 + n),
    "circled": lambda n: chr(0x245F + n),
    "black": lambda n: chr(0x2775 + n), "bracketed": lambda n: chr(0x2473 + n),
    "with stop": lambda n: chr(0x2487 + n),
    "sans circled": lambda n: chr(0x277F + n), "subscript": lambda n: chr(0x2080 + n),
    "roman": lambda n: chr(0x215F + n),
    "small roman": lambda n: chr(0x216F + n), "arabic-indic": lambda n: chr(0x0660 + n),
    "devanagari": lambda n: chr(0x0966 + n),
}  # fmt: skip
WORDS = {"en": "one two three four five six seven eight nine",
    "de": "eins zwei drei vier fünf sechs sieben acht neun",
         "fr": "un deux trois quatre cinq six sept huit neuf",
         "es": "uno dos tres cuatro cinco seis siete ocho nueve",
         "it": "uno due tre quattro cinque sei sette otto nove",
         "pt": "um dois três quatro cinco seis sete oito nove",
         "zh": "一 二 三 四 五 六 七 八 九", "ja": "一 二 三 四 五 六 七 八 九"}  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("form", DIGIT_FORMS)
def test_digits_in_any_form(language: str, form: str) -> None:
    for number, word in enumerate(WORDS[language].split(), start=1):
        char = DIGIT_FORMS[form](number)
        spoken = speakable(f"Q {char} Z", language).text
        assert word in spoken, f"{char!r} -> {spoken!r}"
        assert spoken.replace(word, "").split() == ["Q", "Z"]


@pytest.mark.parametrize(
    "text", ["Ｈｅｌｌｏ", "𝓗𝓮𝓵𝓵𝓸", "𝕳𝖊𝖑𝖑𝖔", "Ⓗⓔⓛⓛⓞ", "🄷🄴🄻🄻🄾", "🅗🅔🅛🅛🅞", "🅷🅴🅻🅻🅾", "ʜᴇʟʟᴏ"]
)
def test_words_in_styled_letters(text: str) -> None:
    assert speakable(f"{text} there", "en").text.lower() == "hello there"


def test_ligatures_and_squared_units() -> None:
    assert speakable("ﬁve oﬀers", "en").text == "five offers"
    assert (
        speakable("5㎏ and 3㎞ and 2㎡", "en").text
        == "five kilograms and three kilometers and two square meters"
    )


# --- words that a tag joined, acronyms in the plural (K11) --------------------------------------

BLOCKS = ("p", "li", "div", "td", "th", "h1", "h3", "summary", "details", "section",
    "blockquote", "dd", "dt", "option",
          "button", "caption", "article", "figcaption", "tr", "ul", "ol", "table", "pre",
          "header", "label")  # fmt: skip


@pytest.mark.parametrize("block", BLOCKS)
def test_blocks_do_not_join_words(block: str) -> None:
    for text in (
        f"<{block}>One</{block}><{block}>Two</{block}>",
        f"One<{block}>Two</{block}>",
        f"<{block} class='x'>One</{block}>Two",
    ):
        assert re.findall("[A-Za-z]+", speakable(text, "en").text) == ["One", "Two"]


@pytest.mark.parametrize(
    "tag", ["b", "i", "em", "strong", "span", "a", "u", "mark", "small", "code", "font"]
)
def test_tags_in_a_word_do_not_part_it(tag: str) -> None:
    assert speakable(f"un<{tag}>believ</{tag}>able", "en").text == "unbelievable"


@pytest.mark.parametrize(
    "word",
    [
        "CPUs",
        "GPUs",
        "PDFs",
        "URLs",
        "DVDs",
        "TVs",
        "LLMs",
        "APIs",
        "PCs",
        "FAQs",
        "VMs",
        "IDs",
        "CEOs",
    ],
)
def test_plural_acronyms_are_spelled(word: str) -> None:
    spelled = " ".join(word[:-1]) + "'s"
    for text in (
        f"on {word}",
        f"{word} are here",
        f"old {word}, new ones",
        f"(the {word})",
        f"API and {word}",
    ):
        assert spelled in speakable(text, "en").text


# --- control tokens are never said (K3) ---------------------------------------------------------

TOKENS = ("<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|begin_of_text|>",
    "<|end_of_text|>", "<end_of_turn>",
          "<start_of_turn>model", "<|assistant|>", "<|user|>", "<|end|>", "[INST]", "[/INST]",
          "<s>", "</s>", "<bos>", "<eos>",
          "<<SYS>>", "<|END_OF_TURN_TOKEN|>", "<|CHATBOT_TOKEN|>", "<｜end▁of▁sentence｜>",
          "<｜Assistant｜>", "<|return|>",
          "<|start_header_id|>assistant<|end_header_id|>", "<|fim_prefix|>", "<unused7>",
          "<pad>", "<|python_tag|>", "<0x0A>",
          "<think>so</think>", "<thinking>so</thinking>", "<thought>so</thought>",
          "[THINK]so[/THINK]", "<reasoning>so</reasoning>",
          '<tool_call>{"name": "x"}</tool_call>', '<function=x>{"a": 1}</function>',
          '[TOOL_CALLS][{"name": "x"}]')  # fmt: skip


@pytest.mark.parametrize("token", TOKENS)
def test_control_tokens_are_not_said(token: str) -> None:
    assert speakable(f"All done.{token}", "en").text == "All done."
    # what follows these is not the assistant's
    hides = token in {"<|python_tag|>", "<|user|>", "[INST]", "<<SYS>>"}
    said = speakable(f"{token}\nAll done.", "en").text
    assert said == ("" if hides else "All done.")
    assert speakable(f"{token}", "de").text == ""


@pytest.mark.parametrize(
    ("language", "sign"), list(product(LANGUAGES, ["<", ">", "<=", ">=", "≤", "≥", "≈", "~", "="]))
)
def test_signs_before_numbers_are_words(language: str, sign: str) -> None:
    bare, spoken = (speakable(f"x {mark}5", language).text.replace(" ", "") for mark in ("", sign))
    assert not re.search(r"[<>=≤≥≈~0-9]", spoken)
    assert len(spoken) > len(bare)
