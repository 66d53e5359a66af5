"""Hearing turns: voice activity, end of turn, speculation, interruption."""
