"""Speak with several engines for Qwen3-TTS, side by side: same machine, same weights, same voice.

See `s2s.bench.peers.compare`.
"""

from s2s.bench.peers.compare import main

if __name__ == "__main__":
    main()
