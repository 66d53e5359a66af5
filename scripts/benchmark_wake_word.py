"""Measure the wake words: recognised, late, by mistake, at what cost.

See `s2s.bench.wake_word`.
"""

from s2s.bench.wake_word import main

if __name__ == "__main__":
    main()
