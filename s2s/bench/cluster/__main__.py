"""`python -m s2s.bench.cluster`."""

import sys

from s2s.bench.entry import need, run_measurement


def main() -> int:
    """What Ray brings is imported once it is known to be there."""
    need("ray")
    from s2s.bench.cluster.run import main as figures

    return figures()


if __name__ == "__main__":
    sys.exit(run_measurement(main))
