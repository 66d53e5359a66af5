"""Other engines for Qwen3-TTS under the same measurement, each in its own interpreter."""
