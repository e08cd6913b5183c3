"""What a script does when it runs alone: its steps, its answers, its files, for who follows it and who compares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from counterfoil.program.whereabouts import in_brackets
from counterfoil.training.following.plainprocess import plain_process
from counterfoil.training.following.plainreport import Border, Files, Generators, Request
from counterfoil.training.scripts.workfolder import WorkFolder
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import DataError, ProgramError


@dataclass(frozen=True)
class Survey:
    """What a script does."""

    borders: tuple[Border, ...] = ()  #: What it did, from border to border; the first is where its first step begins.
    #: Where the generators of Python, numpy and torch were when it began.
    generators: Generators = field(default_factory=dict)
    files: Files = field(default_factory=Files)  #: What it read and wrote.
    end: Border | None = None  #: What is left where it has ended; None where it was ended before.

    @property
    def steps(self) -> int:
        """How many steps it made."""
        return max(len(self.borders) - 1, 0)

    @property
    def is_whole(self) -> bool:
        """Whether it was watched to its end."""
        return self.end is not None

    @property
    def seconds(self) -> float:
        """How long its steps took."""
        return sum(border.seconds for border in self.borders[1:])

    def holds(self, name: str) -> bool:
        """Whether a tensor of a module that is not trained is state: some of its module is made of what is trained.

        Args:
            name: Its name, the module's before the first dot.
        """
        return name.partition(".")[0] in self.averages

    @cached_property
    def averages(self) -> frozenset[str]:
        """Names of the modules that were written by what was made of the state."""
        last = self.end or (self.borders[-1] if self.borders else None)
        return frozenset() if last is None else frozenset(name.partition(".")[0] for name in last.held)

    def check(self) -> None:
        """Check that what it did can be the training of an order at all.

        Raises:
            ProgramError: It cannot; the message says where.
            DataError: It failed, or reads what an earlier run left.
        """
        last = self.end or (self.borders[-1] if self.borders else None)
        if last is None:
            return
        if last.failure is not None:
            raise DataError(
                f"The script by itself fails after {self.steps} steps: {last.failure.sentence}"
                f"{in_brackets(last.failure.place)}.",
                remedy=f"Correct the script; or order the steps that it makes: --max-steps {self.steps}.",
                detail=last.failure.detail,
            )
        if self.files.stale:
            name = self.files.stale[0]
            raise DataError(
                f"The script reads {name}, which was there before, and writes a file of that name later: nobody can "
                "tell whether its training begins from what an earlier run left.",
                remedy=f"Move {name} away, so that the training begins where the script does; or, if it is meant to "
                "begin from that, let it read the file under a name that it does not write.",
            )
        if not self.steps and last.processes:
            raise ProgramError(
                f"The script starts other processes{in_brackets(last.processes[0])}, and trains in none but them.",
                remedy="Train in this process: an order has one sequence of steps. For many devices see "
                "docs/many-devices.md.",
            )
        if last.early:
            raise ProgramError(
                f"An optimizer makes a step before a model was called{in_brackets(last.early[0])}.",
                remedy="Let the script call a torch.nn.Module that holds the parameters, or clear gradients first.",
            )
        if last.elsewhere:
            raise ProgramError(
                f"Another thread lets an optimizer make its step{in_brackets(last.elsewhere[0])}: in which order "
                "threads come is another one each time.",
                remedy="Train in one thread.",
            )


def survey_of(
    request: Request,
    folder: WorkFolder,
    scratch: Path,
    tell: Callable[[int], None],
    cancel: CancelToken | None = None,
) -> Survey:
    """Run a script as it is, and return what it does.

    Args:
        request: What is run.
        folder: Where it works.
        scratch: An empty folder.
        tell: Is told how many steps it has made.
        cancel: Looked at between steps.

    Raises:
        DataError: It ended its process.
        CancelledError: ``cancel`` was set.
    """
    borders: list[Border] = []
    end, now = None, dict[str, bytes]()
    with plain_process(request, folder, scratch) as process:
        for border in process.borders():
            if cancel is not None:
                cancel.check()
            now = {**now, **border.generators}
            if border.is_end and border.failure is not None and len(borders) - 1 == request.most_steps:
                # As many steps as are wanted were made: how the script ends behind them is no part of the order.
                break
            if border.is_end:
                end = border
            else:
                borders.append(replace(border, generators={}, generators_now=now))
                tell(border.number)
        return Survey(tuple(borders), process.generators, process.files, end)
