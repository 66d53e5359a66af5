"""The command `completion`; the scripts themselves are tested in tests/app/test_completion.py."""

from __future__ import annotations

import pytest

from s2s.app import cli

pytestmark = pytest.mark.usefixtures("clean_environment")


@pytest.mark.parametrize(
    ("shell", "first"), [("bash", "# bash"), ("zsh", "#compdef s2s"), ("fish", "# fish")]
)
def test_the_script_of_the_shell_is_printed_and_nothing_else(
    shell: str, first: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["completion", shell]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith(first)
    assert shown.err == ""


def test_another_shell_is_wrong_usage(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["completion", "csh"])
    assert ended.value.code == 2
    assert "bash" in capsys.readouterr().err
