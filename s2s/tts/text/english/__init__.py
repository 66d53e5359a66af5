"""English, fully: numbers, units, dates, money, abbreviations."""
