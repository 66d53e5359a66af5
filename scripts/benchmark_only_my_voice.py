"""Measure who is answered and who interrupts: the person, others, music, babble, noises.

See `s2s.bench.whose_voice.conversations`.
"""

from s2s.bench.whose_voice.conversations import main

if __name__ == "__main__":
    main()
