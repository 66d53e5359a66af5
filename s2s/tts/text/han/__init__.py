"""Chinese and Japanese: numbers in Han numerals."""
