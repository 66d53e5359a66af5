"""Text to the vectors the talker is fed with."""
