"""Hearing turns: voice activity, end of turn, speculation, interruption. Knows no transcript model."""
