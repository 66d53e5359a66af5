"""Reads English units, percent and degrees. Pure."""

from __future__ import annotations

import re

from s2s.tts.text.english.numerals import NUMBER, cardinal, decimal
from s2s.tts.text.tracked import Tracked

_UNITS = {
    "km": ("kilometer", "kilometers"), "cm": ("centimeter", "centimeters"),
    "mm": ("millimeter", "millimeters"), "µm": ("micrometer", "micrometers"),
    "μm": ("micrometer", "micrometers"), "nm": ("nanometer", "nanometers"),
    "m": ("meter", "meters"), "mi": ("mile", "miles"), "ft": ("foot", "feet"),
    "yd": ("yard", "yards"), "kg": ("kilogram", "kilograms"), "mg": ("milligram", "milligrams"),
    "µg": ("microgram", "micrograms"), "mcg": ("microgram", "micrograms"),
    "g": ("gram", "grams"), "lb": ("pound", "pounds"), "lbs": ("pound", "pounds"),
    "oz": ("ounce", "ounces"), "ml": ("milliliter", "milliliters"),
    "mL": ("milliliter", "milliliters"), "cl": ("centiliter", "centiliters"),
    "dl": ("deciliter", "deciliters"), "dL": ("deciliter", "deciliters"),
    "l": ("liter", "liters"), "L": ("liter", "liters"), "gal": ("gallon", "gallons"),
    "tbsp": ("tablespoon", "tablespoons"), "tsp": ("teaspoon", "teaspoons"),
    "ns": ("nanosecond", "nanoseconds"), "µs": ("microsecond", "microseconds"),
    "ms": ("millisecond", "milliseconds"), "s": ("second", "seconds"),
    "sec": ("second", "seconds"), "secs": ("second", "seconds"), "min": ("minute", "minutes"),
    "mins": ("minute", "minutes"), "h": ("hour", "hours"), "hr": ("hour", "hours"),
    "hrs": ("hour", "hours"), "yr": ("year", "years"), "yrs": ("year", "years"),
    "wk": ("week", "weeks"), "mo": ("month", "months"), "Hz": ("hertz", "hertz"),
    "kHz": ("kilohertz", "kilohertz"), "MHz": ("megahertz", "megahertz"),
    "GHz": ("gigahertz", "gigahertz"), "dB": ("decibel", "decibels"), "W": ("watt", "watts"),
    "kW": ("kilowatt", "kilowatts"), "MW": ("megawatt", "megawatts"),
    "GW": ("gigawatt", "gigawatts"), "Wh": ("watt-hour", "watt-hours"),
    "kWh": ("kilowatt-hour", "kilowatt-hours"), "mAh": ("milliamp-hour", "milliamp-hours"),
    "V": ("volt", "volts"), "kV": ("kilovolt", "kilovolts"), "mV": ("millivolt", "millivolts"),
    "mA": ("milliamp", "milliamps"), "Ω": ("ohm", "ohms"), "kΩ": ("kilohm", "kilohms"),
    "J": ("joule", "joules"), "kJ": ("kilojoule", "kilojoules"), "cal": ("calorie", "calories"),
    "kcal": ("kilocalorie", "kilocalories"), "Pa": ("pascal", "pascals"),
    "kPa": ("kilopascal", "kilopascals"), "hPa": ("hectopascal", "hectopascals"),
    "mbar": ("millibar", "millibars"), "psi": ("P S I", "P S I"),
    "ppm": ("parts per million",) * 2, "bit": ("bit", "bits"), "KB": ("kilobyte", "kilobytes"),
    "kB": ("kilobyte", "kilobytes"), "MB": ("megabyte", "megabytes"),
    "GB": ("gigabyte", "gigabytes"), "TB": ("terabyte", "terabytes"),
    "PB": ("petabyte", "petabytes"), "KiB": ("kibibyte", "kibibytes"),
    "MiB": ("mebibyte", "mebibytes"), "GiB": ("gibibyte", "gibibytes"),
    "kbps": ("kilobit per second", "kilobits per second"),
    "Kbps": ("kilobit per second", "kilobits per second"),
    "Mbps": ("megabit per second", "megabits per second"),
    "Gbps": ("gigabit per second", "gigabits per second"),
    "mph": ("mile per hour", "miles per hour"),
    "kph": ("kilometer per hour", "kilometers per hour"),
    "kmh": ("kilometer per hour", "kilometers per hour"), "rpm": ("R P M", "R P M"),
    "bpm": ("beat per minute", "beats per minute"),
    "fps": ("frame per second", "frames per second"), "px": ("pixel", "pixels"),
    "dpi": ("D P I", "D P I"), "ha": ("hectare", "hectares"),
    "sqft": ("square foot", "square feet"), "sq ft": ("square foot", "square feet"),
    "MP": ("megapixel", "megapixels"),
}  # fmt: skip
_ATTACHED_ONLY = {"A": ("amp", "amps"), "in": ("inch", "inches")}
_PER = {
    "h": "hour", "hr": "hour", "hour": "hour", "s": "second", "sec": "second",
    "second": "second", "min": "minute", "minute": "minute", "day": "day", "d": "day",
    "week": "week", "wk": "week", "month": "month", "mo": "month", "year": "year", "yr": "year",
    "kg": "kilogram", "lb": "pound", "km": "kilometer", "mile": "mile", "mi": "mile",
    "L": "liter", "l": "liter", "dL": "deciliter", "mL": "milliliter", "ml": "milliliter",
    "m": "meter", "GB": "gigabyte", "person": "person", "user": "user", "night": "night",
    "unit": "unit", "item": "item", "hectare": "hectare",
}  # fmt: skip

_UNIT_WORDS = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
_PER_WORDS = "|".join(sorted(map(re.escape, _PER), key=len, reverse=True))
_FEET_INCHES = re.compile(r"(?<![\w.])(\d{1,2})['′] ?(\d{1,2})(?:\"|″|'')?(?!\w)")
_ANGLE = re.compile(
    r"(?<![\w.])(\d{1,3}(?:\.\d+)?) ?° ?(\d{1,2})['′] ?(?:(\d{1,2}(?:\.\d+)?)[\"″])?"
)
_PRIMES = re.compile(
    rf"(?<![\w.])({NUMBER})(′|″|(?<=\d)\"(?= (?:x|by|wide|tall|long|deep|screen|display|TV)))"
)
_SCREEN = re.compile(" (?:screen|display|TV|monitor|laptop|tablet)")
_PERCENT = re.compile(rf"(?<![\w.])({NUMBER}) ?(%|‰)")
_DEGREES = re.compile(rf"(?<![\w.])(-?)({NUMBER})(?: ?(℃|℉)| ?° ?([CFK])?(?![A-Za-z]))")
_DEGREE_NAMES = {
    "C": " Celsius",
    "F": " Fahrenheit",
    "K": " Kelvin",
    "℃": " Celsius",
    "℉": " Fahrenheit",
}
_UNIT = re.compile(
    rf"(?<![\w.])(?<![A-Za-z]-)({NUMBER})(?:( ?-?)({_UNIT_WORDS})|()(A|in))(²|³|\^2|\^3|2|3)?"
    rf"(?: ?/ ?({_PER_WORDS})(²|³|\^2|\^3)?)?"
    r"(?![\w/]|\.\d|-\w|'\w)(?:\.(?= [a-z]))?"
)
_POWERS = {
    "²": "square ",
    "^2": "square ",
    "2": "square ",
    "³": "cubic ",
    "^3": "cubic ",
    "3": "cubic ",
}
_RATE = re.compile(rf"(?<=[a-z)]) ?/ ?({_PER_WORDS})(?!\w)")
_UNIT_AFTER_WORD = re.compile(
    r"(?<=[a-z] )(kg|mg|lbs?|oz|km|cm|mm|ml|mL|mph|kWh|kHz|MHz|GHz|GB|MB|TB|ms|hrs|mins)(?![\w/])"
)
_LONE_DEGREES = re.compile(r"° ?([CF])(?!\w)")
_AMBIGUOUS = frozenset({"m", "g", "s", "h", "l", "L", "W", "V", "J", "mo", "mi"})


def read_units(text: Tracked) -> None:
    """Replace numbers with a unit in `text` in place."""
    text.sub(_ANGLE, _read_angle)
    text.sub(_FEET_INCHES, _read_feet)
    text.sub(_PRIMES, _read_prime)
    text.sub(_PERCENT, lambda m: f"{_number(m[1])} {'percent' if m[2] == '%' else 'per mille'}")
    text.sub(_DEGREES, _read_degrees)
    text.sub(_LONE_DEGREES, lambda m: "degrees" + _DEGREE_NAMES[m[1]])
    text.sub(_UNIT, _read_unit)


def read_rates(text: Tracked) -> None:
    """Read units and "/month" after words; runs after the numbers were read."""
    text.sub(_UNIT_AFTER_WORD, lambda m: _UNITS[m[1]][1])
    text.sub(_RATE, lambda m: f" per {_PER[m[1]]}")


def _number(text: str) -> str:
    return decimal(text)


def _count(number: str, singular: str, plural: str) -> str:
    return f"{_number(number)} {singular if number == '1' else plural}"


def _read_angle(match: re.Match[str]) -> str:
    """Parts of a coordinate: "48° 51′ 24″"."""
    parts = [_count(match[1], "degree", "degrees"), _count(match[2], "minute", "minutes")]
    words = " ".join([*parts, _count(match[3], "second", "seconds")] if match[3] else parts)
    return words + (" " if match.string[match.end() : match.end() + 1].isalnum() else "")


def _read_prime(match: re.Match[str]) -> str:
    if match[2] == "′":
        return _count(match[1], "foot", "feet")
    is_adjective = _SCREEN.match(match.string, match.end())
    return _count(match[1], "inch", "inch" if is_adjective else "inches")


def _read_feet(match: re.Match[str]) -> str:
    feet, inches = int(match[1]), int(match[2])
    return (
        f"{cardinal(feet)} {'foot' if feet == 1 else 'feet'} "
        f"{cardinal(inches)} {'inch' if inches == 1 else 'inches'}"
    )


def _read_degrees(match: re.Match[str]) -> str:
    sign = "minus " if match[1] else ""
    scale = _DEGREE_NAMES.get(match[3] or match[4] or "", "")
    return f"{sign}{_number(match[2])} {'degree' if match[2] == '1' else 'degrees'}{scale}"


def _per(unit: str, power: str | None) -> str:
    """ "per square meter", but "per second squared"."""
    if power and _PER[unit] in {"meter", "kilometer", "mile"}:
        return _POWERS[power] + _PER[unit]
    return _PER[unit] + (" squared" if power else "")


def _read_unit(match: re.Match[str]) -> str:
    number, gap, unit, power, per = match[1], match[2], match[3] or match[5], match[6], match[7]
    names = _UNITS.get(unit) or _ATTACHED_ONLY[unit]
    if power in {"2", "3"} and unit not in {"km", "m", "cm", "mm", "ft"}:
        return match.group()
    if gap == "-" and unit in _AMBIGUOUS:
        return match.group()
    # "a 5 kg bag" and "5-mile" are singular, but only the hyphen tells
    name = names[0] if number == "1" or gap == "-" else names[1]
    words = f"{_number(number)} {_POWERS.get(power or '', '')}{name}"
    return f"{words} per {_per(per, match[8])}" if per else words
