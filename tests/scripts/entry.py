"""What is known of a public script: where it is, how it is run at a tiny size, and which lines are changed."""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path


class StaleError(Exception):
    """A change does not fit the fetched file: the script is another version."""


@dataclass(frozen=True)
class Change:
    """Lines of a fetched file that are replaced.

    Args:
        path: The file, in the repository.
        old: Its text, which must be there exactly once; lines, without the last line's end.
        new: What stands there instead.
        why: In a few words, for the page.
    """

    path: str
    old: str
    new: str
    why: str

    def apply(self, text: str) -> str:
        if text.count(self.old) != 1:
            raise StaleError(f"{self.path} has the changed lines {text.count(self.old)} times, not once:\n{self.old}")
        return text.replace(self.old, self.new)


def seeded(path: str, line: str = "import torch") -> Change:
    """Return the change that seeds a script that seeds nothing, or two runs of it have no losses to compare.

    Args:
        path: The file, in the repository.
        line: Its line that imports torch.
    """
    return Change(path, f"{line}\n", f"{line.rstrip()}; torch.manual_seed(0)\n", "a seed")


@dataclass(frozen=True)
class Script:
    """A public script and the command line that runs it on a processor in seconds.

    Args:
        name: How the page calls it.
        repository: Its owner and name.
        path: The script in it; of a notebook the cells of code are the script.
        arguments: Its command line. ``{work}`` is the folder that it runs in.
        needs: Files and folders of the repository that it needs beside its own folder's files.
        folder: Where in the repository it is started; its own folder if left out.
        imports: Folders of the repository that Python looks for modules in.
        standins: Modules of ``standins/`` that Python finds before anything else.
        libraries: What must be installed.
        materials: Writes data and models into the folder that it is started in.
        changes: Lines that are changed for the order.
        size: Lines that are changed in every run, since no argument makes the script small or leaves the GPU out.
        steps: How many steps are ordered.
        losses: Whether the script's own losses can be compared: not where it seeds nothing, or a step draws numbers.
        optimizer: Whether it has one; a step of a script without one ends with its backward pass.
        others: Files of other repositories, each with its repository, that lie in its folder.
        block: Which block of Python of a page is the script, counted from 0.
        variant: What tells two entries of one script apart, for the page.
        environment: Variables that are set for it.
        remark: For the page.
    """

    name: str
    repository: str
    path: str
    arguments: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    folder: str | None = None
    imports: tuple[str, ...] = ()
    standins: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    materials: Callable[[Path], None] | None = None
    changes: tuple[Change, ...] = ()
    size: tuple[Change, ...] = ()
    steps: int = 3
    losses: bool = True
    environment: dict[str, str] = field(default_factory=dict)
    optimizer: bool = True
    others: tuple[tuple[str, str], ...] = ()
    block: int = 0
    variant: str = ""
    remark: str = ""

    @property
    def started_in(self) -> str:
        return str(Path(self.path).parent) if self.folder is None else self.folder


def changed_lines(before: str, after: str) -> int:
    """How many lines somebody has to touch: a replaced line counts once, so does an added or removed one."""
    matcher = difflib.SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    return sum(max(i2 - i1, j2 - j1) for kind, i1, i2, j1, j2 in matcher.get_opcodes() if kind != "equal")
