"""Currencies and units in languages that have no rules of their own. Data only."""

from __future__ import annotations

_CURRENCIES = {
    "ko": "EUR 유로;$ 달러;USD 달러;GBP 파운드;JPY 엔;CNY 위안;CHF 스위스 프랑;KRW 원;INR 루피;RUB"
    " 루블"
    ";SEK 크로나;NOK 크로네;DKK 크로네;PLN 즈워티;¢ 센트;BRL 헤알;AUD 호주 달러;CAD 캐나다 달러"
    ";THB 바트;VND 동;PHP 페소;MXN 페소;TRY 리라;ILS 셰켈;UAH 흐리우냐;NGN 나이라;BTC 비트코인",
    "ru": "EUR евро;$ долларов;USD долларов США;GBP фунтов;JPY иен;CNY юаней;CHF швейцарских"
    " франков"
    ";KRW вон;INR рупий;RUB рублей;SEK шведских крон;NOK норвежских крон;DKK датских крон"
    ";PLN злотых;CZK чешских крон;¢ центов;BRL реалов;AUD австралийских долларов"
    ";CAD канадских долларов;THB бат;VND донгов;PHP песо;MXN песо;TRY лир;ILS шекелей"
    ";UAH гривен;NGN найр;BTC биткойнов",
    "nl": "EUR euro;$ dollar;USD Amerikaanse dollar;GBP pond;JPY yen;CNY yuan;CHF Zwitserse frank"
    ";KRW won;INR roepie;RUB roebel;SEK Zweedse kroon;NOK Noorse kroon;DKK Deense kroon;PLN zloty"
    ";CZK Tsjechische kroon;¢ cent;BRL real;AUD Australische dollar;CAD Canadese dollar;THB baht"
    ";VND dong;PHP peso;MXN peso;TRY lira;ILS sjekel;UAH grivna;NGN naira;BTC bitcoin",
    "pl": "EUR euro;$ dolarów;USD dolarów;GBP funtów;JPY jenów;CHF franków szwajcarskich;PLN"
    " złotych"
    ";CZK koron czeskich;RUB rubli;UAH hrywien",
}
_INTERNATIONAL = (
    "EUR euro;$ dollar;USD dollar;GBP pound;JPY yen;CNY yuan;CHF franc;KRW won;INR rupee;RUB rubel"
    ";SEK krona;NOK krone;DKK krone;PLN zloty;CZK koruna;¢ cent;BRL real;AUD dollar;CAD dollar"
    ";NZD dollar;HKD dollar;SGD dollar;TWD dollar;THB baht;VND dong;PHP peso;MXN peso;TRY lira"
    ";ILS shekel;UAH hryvnia;NGN naira;BTC bitcoin"
)
_UNITS = {
    "ko": "km/h 시속 킬로미터;km 킬로미터;m 미터;cm 센티미터;mm 밀리미터;kg 킬로그램;g 그램;mg"
    " 밀리그램"
    ";l 리터;ml 밀리리터;h 시간;min 분;s 초;kWh 킬로와트시;GHz 기가헤르츠;MHz 메가헤르츠"
    ";GB 기가바이트;MB 메가바이트;TB 테라바이트;°C 도;°F 화씨 도;° 도",
    "ru": "km/h километров в час;км/ч километров в час;km километров;км километров;m метров;м"
    " метров"
    ";cm сантиметров;см сантиметров;mm миллиметров;мм миллиметров;kg килограммов;кг килограммов"
    ";g граммов;г граммов;l литров;л литров;мл миллилитров;ч часов;мин минут;с секунд"
    ";GB гигабайт;ГБ гигабайт;MB мегабайт;МБ мегабайт;°C градусов Цельсия;°F градусов Фаренгейта"
    ";° градусов",
    "nl": "km/h kilometer per uur;km/u kilometer per uur;km kilometer;m meter;cm centimeter"
    ";mm millimeter;kg kilogram;g gram;mg milligram;l liter;ml milliliter;h uur;min minuten"
    ";s seconden;kWh kilowattuur;GHz gigahertz;MHz megahertz;GB gigabyte;MB megabyte;TB terabyte"
    ";°C graden Celsius;°F graden Fahrenheit;° graden",
}
MONTHS = {
    "ru": "января февраля марта апреля мая июня июля августа сентября октября ноября декабря",
    "nl": "januari februari maart april mei juni juli augustus september oktober november december",
}
DECIMAL_POINT = frozenset({"ko", "th", "he", "hi"})
"""Languages that write 3.5; most others write 3,5."""


def _table(text: str) -> dict[str, str]:
    return dict(entry.split(" ", 1) for entry in text.split(";")) if text else {}


def currencies(language: str) -> dict[str, str]:
    """ISO code, "$" or "¢" -> name; the international one where the language has no table."""
    return _table(_INTERNATIONAL) | _table(_CURRENCIES.get(language, ""))


def units(language: str) -> dict[str, str]:
    """Sign of a unit -> name; empty where the language has no table."""
    return _table(_UNITS.get(language, ""))
