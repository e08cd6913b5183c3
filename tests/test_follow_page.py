"""Runs what docs/follow.md shows, beside a recorder."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import pytest

from support.besides import recorder
from support.bundles import test_key
from support.jobs import digits_order

PAGE = (Path(__file__).parents[1] / "docs" / "follow.md").read_text(encoding="utf-8")


def test_the_program_of_the_page_shows_what_happens(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    digits_order().write("job.cfoil", trial=False)
    trainer_key = test_key(tmp_path)
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    told = threading.Event()

    def train() -> None:
        # The whole training may take less time than the follower needs to open the run.
        for number, _ in enumerate(recorder(Path("job.cfoil"), Path("run.cfoil"), trainer_key)):
            if number == 2:
                told.wait(60)

    def note(*words: object) -> None:
        print(*words)
        told.set()

    training = threading.Thread(target=train)
    training.start()
    try:
        exec(compile(program, "follow.md", "exec"), {"print": note})
    finally:
        told.set()
        training.join()
    said = capsys.readouterr().out
    assert "steps behind; next segment 1" in said
    assert said.splitlines()[-1] == "None The run was made; its audit concludes."
