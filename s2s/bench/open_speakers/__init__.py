"""Conversations beside an open loudspeaker: what is said, how they go, and what came of them."""
