"""How often the right tool is called with the right arguments, and none where none is asked for."""
