"""Measure the Qwen3-TTS core: what a frame costs part by part, when sound comes, how it stops.

See `s2s.bench.qwen3.core`.
"""

from s2s.bench.qwen3.core import main

if __name__ == "__main__":
    main()
