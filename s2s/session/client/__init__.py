"""A session that a client steers: what it adds to a conversation of its own."""
