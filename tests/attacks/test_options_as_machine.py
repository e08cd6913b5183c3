"""The name of a machine for the window's engine that would be an option of ssh, or a command for a shell."""

from __future__ import annotations

import os

import pytest

from counterfoil import CounterfoilError, Outcome
from counterfoil.cli import main
from counterfoil_app.engine import elsewhere
from counterfoil_app.engine.elsewhere import Elsewhere


@pytest.mark.parametrize(
    "text",
    [
        "gpu", "http://gpu", "ssh://", "ssh://-oProxyCommand=touch", "ssh://ada@-oProxyCommand=x", "ssh://-l@gpu",
        "ssh://gpu;id", "ssh://gpu id", "ssh://$(id)", "ssh://gpu`id`", "ssh://gpu\nid", "ssh://a b@gpu", "ssh://gpu:0",
        "ssh://gpu:65536", "ssh://gpu:22x", "ssh://gpu/run.cfoil", "ssh://ada@b@gpu", "ssh://gpu-", "ssh://%h",
        "ssh://[gpu]", "ssh://g\u00e4u",
    ],
)  # fmt: skip
def test_what_names_no_machine_is_refused(text: str) -> None:
    with pytest.raises(CounterfoilError, match="names no machine"):
        Elsewhere.read(text)


def test_ssh_is_told_nothing_that_a_user_wrote_but_host_user_and_port() -> None:
    command = Elsewhere.read("ssh://ada@gpu:2222").command()
    assert os.path.isabs(command[0])
    assert "BatchMode=yes" in command
    # ClearAllForwardings leaves both, which the user's configuration may have: that machine would hold the user's keys.
    for option in ("ForwardAgent=no", "ForwardX11=no"):
        assert command[command.index(option) - 1] == "-o"
        assert command.index(option) < command.index("--")
    assert command[-7:] == ["-l", "ada", "-p", "2222", "--", "gpu", elsewhere.COMMAND]


def test_the_command_refuses_what_names_no_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gui", "--engine", "ssh://-oProxyCommand=x"]) == Outcome.ERROR.exit_code
    assert "names no machine" in capsys.readouterr().err
