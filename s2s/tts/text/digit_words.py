"""Digits, one by one, by language. Data only."""

from __future__ import annotations

_WORDS = {
    "en": "zero one two three four five six seven eight nine",
    "de": "null eins zwei drei vier fünf sechs sieben acht neun",
    "fr": "zéro un deux trois quatre cinq six sept huit neuf",
    "es": "cero uno dos tres cuatro cinco seis siete ocho nueve",
    "it": "zero uno due tre quattro cinque sei sette otto nove",
    "pt": "zero um dois três quatro cinco seis sete oito nove",
    "zh": "零 一 二 三 四 五 六 七 八 九",
    "ja": "零 一 二 三 四 五 六 七 八 九",
    "ko": "영 일 이 삼 사 오 육 칠 팔 구",
    "ru": "ноль один два три четыре пять шесть семь восемь девять",
    "nl": "nul een twee drie vier vijf zes zeven acht negen",
    "pl": "zero jeden dwa trzy cztery pięć sześć siedem osiem dziewięć",
    "sv": "noll ett två tre fyra fem sex sju åtta nio",
    "da": "nul en to tre fire fem seks syv otte ni",
    "no": "null en to tre fire fem seks sju åtte ni",
    "nb": "null en to tre fire fem seks sju åtte ni",
    "fi": "nolla yksi kaksi kolme neljä viisi kuusi seitsemän kahdeksan yhdeksän",
    "cs": "nula jedna dva tři čtyři pět šest sedm osm devět",
    "tr": "sıfır bir iki üç dört beş altı yedi sekiz dokuz",
    "uk": "нуль один два три чотири п'ять шість сім вісім дев'ять",
    "hu": "nulla egy kettő három négy öt hat hét nyolc kilenc",
    "ro": "zero unu doi trei patru cinci șase șapte opt nouă",
    "vi": "không một hai ba bốn năm sáu bảy tám chín",
    "id": "nol satu dua tiga empat lima enam tujuh delapan sembilan",
    "hi": "शून्य एक दो तीन चार पाँच छह सात आठ नौ",
    "ar": "صفر واحد اثنان ثلاثة أربعة خمسة ستة سبعة ثمانية تسعة",
    "el": "μηδέν ένα δύο τρία τέσσερα πέντε έξι επτά οκτώ εννέα",
    "he": "אפס אחת שתיים שלוש ארבע חמש שש שבע שמונה תשע",
    "th": "ศูนย์ หนึ่ง สอง สาม สี่ ห้า หก เจ็ด แปด เก้า",
}
DIGIT_WORDS = {language: tuple(words.split()) for language, words in _WORDS.items()}
"""Language -> ten words, zero first."""

PLAIN_DIGITS = tuple("0123456789")
"""Where the words are not known: digits with spaces between them."""
