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

from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.arithmetic.selftest import run_selftest
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import DataError, OrderMismatchError, RefusedError
from counterfoil_core.base.sentence import joined, say
from counterfoil_core.base.trouble import obstacles_noticed
from counterfoil_core.hearing.inspection import open_inspection
from counterfoil_core.order.executable import LoadedOrder, with_data_file
from counterfoil_core.panel.referee import Provider, find_parting, result_tree, rule
from counterfoil_core.program.limits import Limits
from counterfoil_core.replay.replayer import StepReplayer
from counterfoil_core.replay.sharedreplay import step_replayer
from counterfoil_core.values.panel import (
    OTHER_RESULT,
    Member,
    PanelAdmitted,
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

Groups = tuple[tuple[int, ...], ...]
_LOOK_STEPS = 4096
"""The token is looked at after so many steps."""


def run_panel(
    runs: Sequence[str | os.PathLike[str]],
    *,
    order: str | os.PathLike[str] | None = None,
    data: str | os.PathLike[str] | None = None,
    device: str = "cpu",
    threads: int | None = None,
    cancel: CancelToken | None = None,
    limits: Limits | None = None,
    replay: bool = True,
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
        replay: Replay where runs part. Otherwise runs that part end with PanelCompared, and nobody is judged.

    Yields:
        PanelAdmitted for each run, PanelCompared, progress of the replays, PanelRuled for each parting, PanelFinished.

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
        raise DataError(
            say("There is nothing to compare with one run."), remedy=say("Give two runs of the same order, or more.")
        )
    with ExitStack() as stack:
        stack.enter_context(obstacles_noticed())
        table = _Table(stack, order, cancel, limits)
        paths = list(map(Path, runs))
        for number, (path, name) in enumerate(zip(paths, distinct_names(paths), strict=True)):
            table.admit(path, name)
            yield PanelAdmitted(number, table.members[number])
        groups = agreeing_groups(table.providers)
        found = tuple(_parting(table, groups[0], group) for group in groups[1:])
        yield PanelCompared(
            found,
            sum(parting.steps for parting in found),
            tuple(table.members),
            results_by_step(len(table.members), table.providers, groups, cancel),
        )
        if found and not replay:
            return
        ruled: list[Parting] = []
        if found:
            replayer = stack.enter_context(_replayer(table, stack, data, device, threads, cancel))
            for parting in found:
                ruled.append((yield from rule(replayer, table.order.initial, table.providers, parting)))
                yield PanelRuled(ruled[-1])
        yield PanelFinished(_report(table, groups, tuple(ruled)))


def distinct_names(paths: Sequence[Path]) -> tuple[str, ...]:
    """Return the names of files, with as many of their folders as tell them apart; one file has one name. Pure."""
    whole = [Path(os.path.abspath(path)).parts[1:] for path in paths]

    def name(parts: tuple[str, ...], others: Sequence[tuple[str, ...]]) -> str:
        length = next(
            (n for n in range(1, len(parts)) if all(other[-n:] != parts[-n:] for other in others)), len(parts)
        )
        return "/".join(parts[-length:])

    return tuple(name(parts, [other for other in whole if other != parts]) for parts in whole)


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

    def admit(self, path: Path, name: str) -> None:
        """Open a run and run checks 1 to 6 on it; one that fails takes no part."""
        try:
            inspection = self._stack.enter_context(
                open_inspection(path, self._order_path, cancel=self._cancel, limits=self._limits)
            )
            if inspection.failure is not None:
                raise inspection.failure
            if inspection.order is None or inspection.claim is None:
                raise RefusedError(say("The file is an order that nobody has run."))
            if self._order is None:
                self._order = LoadedOrder.of(inspection.order)
            elif inspection.order.manifest.digest != self._order.manifest.digest:
                raise OrderMismatchError(say("The run was made for another order than the first run."))
        except RefusedError as error:
            self.members.append(Member(name, Standing.REFUSED, "", None, error.sentence))
            return
        # The data of the order is in memory once, however many runs hold it.
        inspection.order = None
        self.providers[len(self.members)] = Provider(
            inspection.reader, inspection.records, result_tree(inspection.records, inspection.reader)
        )
        self.members.append(Member(name, Standing.UNTESTED, inspection.trainer_key, inspection.claim.run_root))


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


def results_by_step(
    members: int, providers: Mapping[int, Provider], groups: Groups, cancel: CancelToken | None = None
) -> tuple[bytes, ...]:
    """Return which result each run has in each step; as :attr:`PanelCompared.results`.

    Args:
        members: How many runs there are, those that take no part among them.
        providers: Those that take part, by number.
        groups: Those that agree in every step; the first run of the first group is what the others are compared with.
        cancel: Looked at now and then.

    Raises:
        CancelledError: The token was cancelled.
    """
    if not groups:
        return (b"",) * members
    # One run of each group speaks for all of it: they agree in every step.
    trees = [providers[group[0]].results for group in groups]
    found = [bytearray(tree.size) for tree in trees]
    for step in range(max(tree.size for tree in trees)):
        if cancel is not None and not step % _LOOK_STEPS:
            cancel.check()
        reached = [number for number, tree in enumerate(trees) if step < tree.size]
        seen = {trees[0].leaf(step): 0} if reached[0] == 0 else {}
        for number in reached:
            result = seen.setdefault(trees[number].leaf(step), len(seen) + (0 not in seen.values()))
            found[number][step] = min(result, OTHER_RESULT)
    of = {member: bytes(results) for group, results in zip(groups, found, strict=True) for member in group}
    return tuple(of.get(member, b"") for member in range(members))


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
        say("{0} took no part: {1}", member.name, member.detail)
        for member in members
        if member.standing is Standing.REFUSED
    ]
    sentences: list[str] = []
    if wrong or lone:
        outcome = PanelOutcome.EXPOSED
        if wrong:
            sentences.append(say("Not what was ordered: {0}.", ", ".join(wrong)))
        sentences += [
            say(
                "{0} signed fingerprints of step {1} that the ordered step does not give; the loss, and the state "
                "where one is signed, are those of the ordered step.",
                members[number].name,
                step,
            )
            for number, step in lone.items()
        ]
        if groups and len(groups[0]) > 1 and members[groups[0][0]].standing is Standing.WRONG:
            sentences.append(say("That is the largest group that agrees: a majority proves nothing."))
        if any(member.standing is Standing.RIGHT_THERE for member in members):
            sentences.append(
                say("The others were right where they part from them; their other steps were not replayed.")
            )
    elif partings:
        outcome = PanelOutcome.UNDECIDED
        unclear = [r for parting in partings for r in parting.rulings if not r.confirmed]
        if unclear:
            ruling = unclear[0]
            sentences += [
                say("Step {0} of {1} cannot be decided.", ruling.step, members[ruling.provider].name),
                say(
                    "This machine does not give its own result again when reductions run in another order: its "
                    "arithmetic lies outside the margin."
                )
                if ruling.finding is None
                else ruling.finding.sentence,
                say("Nobody is accused; use another machine, or audit each of the runs."),
            ]
        else:
            sentences.append(
                say(
                    "Where the runs part, each is right with its own rounding log: their hardware rounded a value "
                    "differently. From there on they are different runs, and every later step of both is what was "
                    "ordered; audit each of them."
                )
            )
    elif refused:
        outcome = PanelOutcome.REFUSED
        sentences.append(
            say("Nothing was replayed.") if len(groups) != 1 else say("The runs that took part agree in every step.")
        )
    else:
        outcome = PanelOutcome.AGREED
        sentences.append(
            say(
                "All {0} runs agree in every step. If one of their providers is honest and computed by itself, the "
                "losses and the committed states of all are what was ordered; nothing was replayed to show that.",
                len(members),
            )
        )
    keys = [member.trainer_key for member in members if member.trainer_key]
    if len(set(keys)) < len(keys):
        sentences.append(say("Some of the runs are signed with the same key: they are not of different providers."))
    return outcome, joined(*sentences, *refused)
