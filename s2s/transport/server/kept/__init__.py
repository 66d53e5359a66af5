"""Conversations kept outside the process that holds them, so that another one goes on with them."""
