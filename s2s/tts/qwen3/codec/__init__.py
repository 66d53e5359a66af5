"""The codec decoder: codes to sound, whatever computes it."""
