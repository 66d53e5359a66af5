"""German, French, Spanish, Italian and Portuguese: numbers, dates, units, money."""
