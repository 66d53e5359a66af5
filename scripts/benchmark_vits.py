"""Time to first sound of Piper voices, side by side.

See `s2s.bench.vits`.
"""

from s2s.bench.vits import main

if __name__ == "__main__":
    main()
