"""Doubles that are shipped: a simulator, random conversations, scripted models."""
