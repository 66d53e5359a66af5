"""Without the extra `wyoming` there is no such server to be tested."""

from importlib.util import find_spec

collect_ignore_glob = (
    [] if all(find_spec(name) for name in ("wyoming", "zeroconf")) else ["test_*.py"]
)
