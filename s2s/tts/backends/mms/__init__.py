"""MMS: a VITS voice for each of a thousand languages (weights CC BY-NC 4.0)."""
