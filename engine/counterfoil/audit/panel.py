"""The panel: several providers ran one order; where they part, the step is replayed. Majority never decides.

Providers whose steps all gave the same results agree; the largest group of them is the one with which every other
provider is compared. One honest member is enough to expose the others: where an outlier parts from the group, the
replay says which side is not what was ordered, be it the group.

A referee is a panel of two.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import replace
from pathlib import Path

from counterfoil.arithmetic.machine import open_machine
from counterfoil.arithmetic.selftest import run_selftest
from counterfoil.audit.inspection import open_inspection
from counterfoil.audit.referee import Provider, find_parting, result_tree, rule
from counterfoil.audit.step.replayer import StepReplayer
from counterfoil.audit.step.sharedreplay import step_replayer
from counterfoil.audit.values.panel import (
    Member,
    PanelCompared,
    PanelEvent,
    PanelFinished,
    PanelOutcome,
    PanelReport,
    PanelRuled,
    Parting,
    Ruling,
    Standing,
)
from counterfoil.base.cancel import CancelToken
from counterfoil.base.digest import Digest
from counterfoil.base.errors import DataError, OrderMismatchError, RefusedError
from counterfoil.base.trouble import obstacles_noticed
from counterfoil.program.limits import Limits
from counterfoil.training.loaded import LoadedOrder, with_data_file

Groups = tuple[tuple[int, ...], ...]


def run_panel(
    runs: Sequence[str | os.PathLike[str]],
    *,
    order: str | os.PathLike[str] | None = None,
    data: str | os.PathLike[str] | None = None,
    device: str = "cpu",
    threads: int | None = None,
    cancel: CancelToken | None = None,
    limits: Limits | None = None,
) -> Iterator[PanelEvent]:
    """Compare runs of one order, and replay the steps in which they part.

    Args:
        runs: The runs, two or more.
        order: The client's own order; without it the order of the first run that can be read counts.
        data: The data file, for an order that keeps data outside.
        device: ``cpu`` or ``cuda:0``.
        threads: Threads on the CPU; None for torch's choice.
        cancel: Looked at between operators.
        limits: How large the program may be; the default limits unless given.

    Yields:
        PanelCompared, progress of the replays, PanelRuled for each parting, PanelFinished.

    Raises:
        DataError: Fewer than two runs were given.
        RefusedError: The data file, or the client's order, cannot be used.
        NonFiniteError: A step leads to a value that does not fit float32.
        DeviceError: There is no such device, or it fails the self-test.
        LimitError: The program of a run is larger than the limits.
        ObstacleError: A file changed while it was read, or this machine cannot read or hold it; nobody is blamed.
        CancelledError: ``cancel`` was set.
    """
    if len(runs) < 2:
        raise DataError("There is nothing to compare with one run.", remedy="Give two runs of the same order, or more.")
    with ExitStack() as stack:
        stack.enter_context(obstacles_noticed())
        table = _Table(stack, order, cancel, limits)
        for run in runs:
            table.admit(Path(run))
        groups = agreeing_groups(table.providers)
        found = tuple(_parting(table, groups[0], group) for group in groups[1:])
        yield PanelCompared(found, sum(parting.steps for parting in found))
        ruled: list[Parting] = []
        if found:
            replayer = stack.enter_context(_replayer(table, stack, data, device, threads, cancel))
            for parting in found:
                ruled.append((yield from rule(replayer, table.order.initial, table.providers, parting)))
                yield PanelRuled(ruled[-1])
        yield PanelFinished(_report(table, groups, tuple(ruled)))


class _Table:
    """Where the runs lie open side by side."""

    def __init__(
        self,
        stack: ExitStack,
        order_path: str | os.PathLike[str] | None,
        cancel: CancelToken | None,
        limits: Limits | None,
    ) -> None:
        self.providers: dict[int, Provider] = {}
        """Those that take part, by number."""
        self.members: list[Member] = []
        self._stack = stack
        self._order_path = order_path
        self._cancel = cancel
        self._limits = limits
        self._order: LoadedOrder | None = None

    @property
    def order(self) -> LoadedOrder:
        """The order that all ran."""
        assert self._order is not None, "a run took part"
        return self._order

    @property
    def order_or_none(self) -> LoadedOrder | None:
        """The same; None when no run takes part."""
        return self._order

    def admit(self, path: Path) -> None:
        """Open a run and run checks 1 to 6 on it; one that fails takes no part."""
        try:
            inspection = self._stack.enter_context(
                open_inspection(path, self._order_path, cancel=self._cancel, limits=self._limits)
            )
            if inspection.failure is not None:
                raise inspection.failure
            if inspection.order is None or inspection.claim is None:
                raise RefusedError("The file is an order that nobody has run.")
            if self._order is None:
                self._order = LoadedOrder.of(inspection.order)
            elif inspection.order.manifest.digest != self._order.manifest.digest:
                raise OrderMismatchError("The run was made for another order than the first run.")
        except RefusedError as error:
            self.members.append(Member(path.name, Standing.REFUSED, "", None, error.sentence))
            return
        # The data of the order is in memory once, however many runs hold it.
        inspection.order = None
        self.providers[len(self.members)] = Provider(
            inspection.reader, inspection.records, result_tree(inspection.records, inspection.reader)
        )
        self.members.append(Member(path.name, Standing.UNTESTED, inspection.trainer_key, inspection.claim.run_root))


def _replayer(
    table: _Table,
    stack: ExitStack,
    data: str | os.PathLike[str] | None,
    device: str,
    threads: int | None,
    cancel: CancelToken | None,
) -> AbstractContextManager[StepReplayer]:
    job = table.order
    machine = open_machine(device, threads)
    machine.check_memory(job.all_programs, job.manifest.precision)
    run_selftest(machine, job.manifest.precision)
    job = with_data_file(job, data, stack, cancel)
    return step_replayer(job, machine, cancel=cancel)


def agreeing_groups(providers: Mapping[int, Provider]) -> Groups:
    """Return the groups of providers who agree in every step, by number, the largest first and then the earliest."""
    groups: dict[Digest, list[int]] = {}
    for number in sorted(providers):
        groups.setdefault(providers[number].results.root, []).append(number)
    return tuple(sorted(map(tuple, groups.values()), key=lambda group: (-len(group), group)))


def _parting(table: _Table, first: tuple[int, ...], second: tuple[int, ...]) -> Parting:
    parting = find_parting(table.order.manifest, table.providers, first, second)
    assert parting is not None, "different roots differ in some leaf"
    return parting


def _report(table: _Table, groups: Groups, partings: tuple[Parting, ...]) -> PanelReport:
    standings = judge_members(len(table.members), partings)
    members = tuple(
        member if member.standing is Standing.REFUSED else replace(member, standing=standings[number])
        for number, member in enumerate(table.members)
    )
    order = table.order_or_none
    outcome, reason = conclude_panel(members, groups, partings)
    return PanelReport(
        outcome,
        reason,
        order.manifest.digest if order else None,
        order.manifest.steps if order else 0,
        members,
        groups,
        partings,
    )


def judge_members(count: int, partings: Sequence[Parting]) -> tuple[Standing, ...]:
    """Return what the rulings say of each provider; one ruling against it is enough."""
    rulings = [ruling for parting in partings for ruling in parting.rulings]
    return tuple(_standing([ruling for ruling in rulings if ruling.provider == number]) for number in range(count))


def _standing(rulings: Sequence[Ruling]) -> Standing:
    if any(ruling.wrong for ruling in rulings):
        return Standing.WRONG
    return Standing.RIGHT_THERE if rulings and all(ruling.right for ruling in rulings) else Standing.UNTESTED


def _by_fingerprints_alone(partings: Sequence[Parting]) -> dict[int, int]:
    """The providers of whom nothing but fingerprints is proven to be wrong, each with the first such step. Pure."""
    wrong = sorted(
        (ruling for parting in partings for ruling in parting.rulings if ruling.wrong), key=lambda ruling: ruling.step
    )
    more = {ruling.provider for ruling in wrong if ruling.parts != ("fingerprints",)}
    found: dict[int, int] = {}
    for ruling in wrong:
        if ruling.provider not in more:
            found.setdefault(ruling.provider, ruling.step)
    return found


def conclude_panel(members: Sequence[Member], groups: Groups, partings: Sequence[Parting]) -> tuple[PanelOutcome, str]:
    """Return the outcome and its reason in plain sentences. Pure."""
    lone = _by_fingerprints_alone(partings)
    wrong = [m.name for number, m in enumerate(members) if m.standing is Standing.WRONG and number not in lone]
    refused = [
        f"{member.name} took no part: {member.detail}" for member in members if member.standing is Standing.REFUSED
    ]
    sentences = []
    if wrong or lone:
        outcome = PanelOutcome.EXPOSED
        if wrong:
            sentences.append(f"Not what was ordered: {', '.join(wrong)}.")
        sentences += [
            f"{members[number].name} signed fingerprints of step {step} that the ordered step does not give; the loss, "
            "and the state where one is signed, are those of the ordered step."
            for number, step in lone.items()
        ]
        if groups and len(groups[0]) > 1 and members[groups[0][0]].standing is Standing.WRONG:
            sentences.append("That is the largest group that agrees: a majority proves nothing.")
        if any(member.standing is Standing.RIGHT_THERE for member in members):
            sentences.append("The others were right where they part from them; their other steps were not replayed.")
    elif partings:
        outcome = PanelOutcome.UNDECIDED
        unclear = [r for parting in partings for r in parting.rulings if not r.confirmed]
        if unclear:
            ruling = unclear[0]
            sentences.append(
                f"Step {ruling.step} of {members[ruling.provider].name} cannot be decided. "
                + (
                    "This machine does not give its own result again when reductions run in another order: its "
                    "arithmetic lies outside the margin."
                    if ruling.finding is None
                    else ruling.finding.sentence
                )
            )
            sentences.append("Nobody is accused; use another machine, or audit each of the runs.")
        else:
            sentences.append(
                "Where the runs part, each is right with its own rounding log: their hardware rounded a value "
                "differently. From there on they are different runs, and every later step of both is what was ordered; "
                "audit each of them."
            )
    elif refused:
        outcome = PanelOutcome.REFUSED
        sentences.append(
            "Nothing was replayed." if len(groups) != 1 else "The runs that took part agree in every step."
        )
    else:
        outcome = PanelOutcome.AGREED
        sentences.append(
            f"All {len(members)} runs agree in every step. If one of their providers is honest and computed by itself, "
            "the losses and the committed states of all are what was ordered; nothing was replayed to show that."
        )
    keys = [member.trainer_key for member in members if member.trainer_key]
    if len(set(keys)) < len(keys):
        sentences.append("Some of the runs are signed with the same key: they are not of different providers.")
    return outcome, " ".join((*sentences, *refused))
