"""The figures of several servers as one text."""

from __future__ import annotations

from s2s.transport.server.kept.figures import together
from s2s.transport.server.metrics import ServerMetrics

ONE = """# HELP s2s_errors_total Failures.
# TYPE s2s_errors_total counter
s2s_errors_total{code="a b",where="x"} 2
# TYPE s2s_sessions gauge
s2s_sessions 3
"""
TWO = """# HELP s2s_errors_total Failures.
# TYPE s2s_errors_total counter
s2s_errors_total 0
# TYPE s2s_sessions gauge
s2s_sessions 1
nonsense without a value
"""


def test_each_sample_says_of_which_server_it_is_and_each_name_is_explained_once():
    assert together({"b": TWO, 'a"1': ONE}) == (
        "# HELP s2s_errors_total Failures.\n"
        "# TYPE s2s_errors_total counter\n"
        's2s_errors_total{replica="a\\"1",code="a b",where="x"} 2\n'
        's2s_errors_total{replica="b"} 0\n'
        "# TYPE s2s_sessions gauge\n"
        's2s_sessions{replica="a\\"1"} 3\n'
        's2s_sessions{replica="b"} 1\n'
    )


def test_a_histogram_stays_together():
    """Prometheus wants all samples of a name in one piece, behind what explains it."""
    text = together({"a": ServerMetrics().text({}), "b": ServerMetrics().text({"s2s_sessions": 1})})
    name = ""
    seen: set[str] = set()
    for line in text.splitlines():
        found = line.split()[2] if line.startswith("#") else line.split("{")[0]
        if found.startswith("s2s_stage_seconds"):
            found = "s2s_stage_seconds"
        if found != name:
            assert found not in seen
            seen.add(found)
            name = found
    assert text.count("# TYPE s2s_stage_seconds histogram") == 1
    assert text.count('s2s_stage_seconds_count{replica="b",stage="stt"} 0') == 1
