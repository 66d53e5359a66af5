"""The commands: `table.py` has a row for each, and each is a module beside it."""
