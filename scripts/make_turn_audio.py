"""Make turns of real speech with pauses cut in, and say where everything is.

See `s2s.bench.turn_audio`.
"""

from s2s.bench.turn_audio import main

if __name__ == "__main__":
    main()
