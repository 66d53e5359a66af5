"""Measure whether noise suppression helps the recogniser and the voice detector.

See `s2s.bench.noise`.
"""

from s2s.bench.noise import main

if __name__ == "__main__":
    main()
