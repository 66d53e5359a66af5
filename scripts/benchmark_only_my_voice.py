"""Measure who is answered and who interrupts: the person, others, music, babble, noises.

See `s2s.bench.whose_voice.command`.
"""

from s2s.bench.whose_voice.command import main

if __name__ == "__main__":
    main()
