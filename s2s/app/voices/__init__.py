"""Voices on this machine: Piper's, which speak, and the person's own, which is listened to."""
