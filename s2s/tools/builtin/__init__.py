"""Tools that come with the program."""
