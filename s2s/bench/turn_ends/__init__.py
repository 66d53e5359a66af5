"""How well the end of a turn is found: what each witness says and proves, what comes of it."""
