"""The page of the campaign, from its results alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from benchmarks.cross_hardware.results import Machine, Ordered, Part, Recorded, Replayed, Trained
from benchmarks.pages import between, markdown
from counterfoil.base.wholefiles import write_whole

TEMPLATE = """\
# Other hardware: recorded here, replayed there

*For*: whoever asks whether a run recorded here comes out the same there.
*Answers*: which pairs of machines were tried, with what result, and how a further machine joins.

Written by `python -m benchmarks cross-hardware page` from the results under `benchmarks/cross_hardware/measured/`.
`make arm64` does the campaign with an emulated AArch64 machine; how another machine joins is said
[below](#a-further-machine).

A result belongs to the digest of its order, not to a version of Counterfoil: what was found with an earlier version
stays as long as the order is the same. So it is with most of the emulated machine's results under the rounding
profiles.

Every recipe, a model of one's own and a job of every rounded operator are ordered once under each precision profile,
at small sizes. Each machine records each order, and audits what the others recorded. Machines have other processors,
instruction sets, and libraries for matrix products, convolutions and functions. An emulated one computes what the real
one would, as far as the emulator is right.

## Machines

{machines}

A machine whose self-test fails does nothing else. Such machines are listed because a test that never fails shows
nothing.

{pairs}
## What was expected

{summary}

{refused}

<!-- versions: begin -->
{versions}
<!-- versions: end -->

{replays}
<!-- gpu: begin -->
{gpu}
<!-- gpu: end -->

`python -m benchmarks gpu --device cuda:0 --out DIR --minutes 15` does it without make, and goes on where it was
stopped. `DIR/bundles` then has the runs of the GPU with their orders, and `replay.sh`, which audits all of them on any
other machine.

## A further machine

Copy the repository and the campaign's folder to it. There, `python -m benchmarks cross-hardware work FOLDER --machine
NAME` (with `--device cuda:0` on a GPU) tests itself, records, trains and audits. Copy the folder back, let the other
machines work once more, so that they audit what the new one recorded, and run `python -m benchmarks cross-hardware page
FOLDER`. The results of each machine and of each pair are a file of their own, and the orders are the folder's, so
machines at different places and times can be compared. A changed order counts as a new one.
"""
_PAIR = """\
## {first} and {second}

A cell gives the directions taken from the log in the replay of {first}'s run on {second}, and in the reverse; then
what is equal in their two recordings: the *run root* over everything, only the *state* after the last step, or
*nothing*. Under the exact profiles run roots must be equal. Under the others two honest machines may log other
decisions, or round a value differently. A replay that did not end in VERIFIED is named instead.

{table}

{counts}

**The control:** the same jobs, trained ordinarily in float32. {control}

{tampered}
"""


@dataclass(frozen=True)
class Found:
    """The results, with stale ones left out: those of orders that were changed since."""

    ordered: tuple[Ordered, ...]  #: The campaign's orders.
    captured: tuple[Ordered, ...]  #: The same jobs, captured by other machines.
    machines: tuple[Machine, ...]  #: The machines.
    recorded: tuple[Recorded, ...]  #: Their runs.
    replayed: tuple[Replayed, ...]  #: Their audits of others' runs.
    trained: tuple[Trained, ...]  #: Their ordinary training.

    @classmethod
    def of(cls, parts: Iterable[Part]) -> Found:
        """Sort the parts by kind."""
        parts = list(parts)
        written = [part for part in parts if isinstance(part, Ordered)]
        ordered = tuple(part for part in written if not part.machine)
        orders = {part.order for part in ordered if part.order}
        recorded = tuple(part for part in parts if isinstance(part, Recorded) and part.order in orders)
        roots = {(part.machine, part.run_root) for part in recorded}
        return cls(
            ordered=ordered,
            captured=tuple(part for part in written if part.machine),
            machines=tuple(part for part in parts if isinstance(part, Machine)),
            recorded=recorded,
            replayed=tuple(
                part
                for part in parts
                if isinstance(part, Replayed) and part.order in orders and (part.recorder, part.run_root) in roots
            ),
            trained=tuple(
                part for part in parts if isinstance(part, Trained) and (not part.order or part.order in orders)
            ),
        )

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Machines of which one replayed what the other recorded, each pair once."""
        between = {frozenset((one.recorder, one.machine)) for one in self.replayed}
        names = [machine.machine for machine in self.machines]
        return [pair for pair in combinations(names, 2) if frozenset(pair) in between]

    def record_of(self, machine: str, job: str, profile: str, tampered: bool = False) -> Recorded | None:
        """Return a machine's recording."""
        key = (machine, job, profile, tampered)
        return next((r for r in self.recorded if (r.machine, r.job, r.profile, r.tampered) == key), None)

    def replay_of(self, recorder: str, machine: str, job: str, profile: str, tampered: bool = False) -> Replayed | None:
        """Return a machine's replay of a recorder's run."""
        key = (recorder, machine, job, profile, tampered)
        return next((r for r in self.replayed if (r.recorder, r.machine, r.job, r.profile, r.tampered) == key), None)

    def controls(self, first: str, second: str) -> list[tuple[str, bool]]:
        """Return the jobs that two machines trained ordinarily, and whether the states are equal."""
        roots = {(one.machine, one.job, one.order): one.state_root for one in self.trained}
        return [
            (job, root == roots[second, job, order])
            for (machine, job, order), root in roots.items()
            if machine == first and (second, job, order) in roots
        ]


def is_exact(profile: str) -> bool:
    """Whether every result of a profile is defined by mathematics, so that runs must have equal roots."""
    return profile.startswith("exact-")


def _equal(found: Found, pair: tuple[str, str], job: str, profile: str, tampered: bool = False) -> str | None:
    """What is equal in two machines' recordings; None when one is missing."""
    first, second = (found.record_of(machine, job, profile, tampered) for machine in pair)
    if first is None or second is None:
        return None
    if first.run_root == second.run_root:
        return "run root"
    return "state" if first.state_root == second.state_root else "nothing"


def unexpected(parts: Iterable[Part]) -> list[str]:
    """Return a sentence for everything that should not be: what accuses honest machines, or fails to find a forger."""
    found = Found.of(parts)
    return [*unexpected_audits(found), *_unequal_runs(found), *_equal_controls(found)]


def unexpected_audits(found: Found) -> Iterator[str]:
    """Return a sentence for each audit that did not end as it should, and for each capsule that differs."""
    yield from _bad_replays(found)
    yield from _unequal_capsules(found)


def _bad_replays(found: Found) -> Iterator[str]:
    for one in found.replayed:
        if not one.as_expected:
            yield (
                f"{one.job}, {one.profile}, {'tampered, ' if one.tampered else ''}{one.recorder} on {one.machine}: "
                f"{one.outcome}, {one.mismatched} steps differ, {one.contradictions} contradictions, "
                f"{one.omissions} omissions, capsule {one.adjudicated or 'none'}"
            )


def _unequal_runs(found: Found) -> Iterator[str]:
    for pair in found.pairs:
        for order in found.ordered:
            for tampered in (False, True):
                equal = _equal(found, pair, order.job, order.profile, tampered)
                if is_exact(order.profile) and equal not in (None, "run root"):
                    yield f"{order.job}, {order.profile}: the run roots of {pair[0]} and {pair[1]} differ"


def _unequal_capsules(found: Found) -> Iterator[str]:
    capsules: dict[tuple[str, ...], set[str]] = {}
    for one in found.replayed:
        if one.capsule:
            capsules.setdefault((one.recorder, one.job, one.profile), set()).add(one.capsule)
    for (recorder, job, profile), digests in capsules.items():
        if len(digests) > 1:
            yield f"{job}, {profile}: machines made {len(digests)} different capsules of {recorder}'s run"


def _equal_controls(found: Found) -> Iterator[str]:
    for first, second in found.pairs:
        controls = found.controls(first, second)
        if not any(not equal for _, equal in controls):
            yield f"no ordinary training differs between {first} and {second}, so that equal runs show little"


def verdict(parts: Iterable[Part]) -> str:
    """Return how many audits ended as they should, and a line for each thing that is strange."""
    parts = list(parts)
    strange = unexpected(parts)
    said = f"{summary(Found.of(parts))} {'Unexpected:' if strange else 'Nothing was unexpected.'}"
    return "\n".join([said, *(f"- {line}" for line in strange)])


def summary(found: Found) -> str:
    """Return how many audits ended as they should."""
    honest = [one for one in found.replayed if not one.tampered]
    tampered = [one for one in found.replayed if one.tampered]
    return (
        f"{sum(one.as_expected for one in honest)} of {len(honest)} audits of honest runs: VERIFIED, with no "
        f"contradiction and no omission. {sum(one.as_expected for one in tampered)} of {len(tampered)} audits of "
        "tampered runs: DISPUTED, and the capsule CONFIRMED."
    )


def render(parts: Iterable[Part], replays: str = "", gpu: str = "", versions: str = "") -> str:
    """Return the page as Markdown.

    Args:
        parts: The results.
        replays: The section on many replays on one machine, or nothing.
        gpu: The section on a GPU, which ``python -m benchmarks gpu`` writes.
        versions: The section on versions of torch, which ``python -m benchmarks cross-hardware versions`` writes.
    """
    parts = list(parts)
    found = Found.of(parts)
    return TEMPLATE.format(
        machines=machine_table(found),
        pairs="\n".join(pair_section(found, pair) for pair in found.pairs),
        summary=verdict(parts),
        refused=_refused(found),
        versions=versions,
        replays=replays,
        gpu=gpu,
    )


def write_page(path: Path, parts: Sequence[Part], replays: str = "") -> None:
    """Write the page; what it has on a GPU and on versions of torch stays.

    Raises:
        DataError: The page is there, and has no place for one of these.
        FileWriteError: It cannot be written.
    """
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    kept = {name: between(before, name) if before else "" for name in ("gpu", "versions")}
    write_whole(path, render(parts, replays, **kept).encode(), what="the page")


def machine_table(found: Found) -> str:
    """Return the table of machines."""
    rows = []
    for one in found.machines:
        versions = ", ".join(f"{name} {one.environment.get(name, '?')}" for name in ("torch", "python", "numpy"))
        runs = sum(1 for r in found.recorded if r.machine == one.machine)
        audits = sum(1 for r in found.replayed if r.machine == one.machine)
        capability = one.environment.get("cpu_capability", "?")
        computes = f"{one.device}; {capability}; {one.libraries}; {versions}"
        rows.append([one.machine, one.about, computes, str(runs), str(audits), _selftest(one)])
    return markdown(
        ["machine", "what it is", "device, instruction set, libraries", "runs", "audits", "self-test"], rows
    )


def _selftest(machine: Machine) -> str:
    if not machine.failed:
        return f"passed under {', '.join(machine.selftest)}"
    wrong = {profile: machine.selftest[profile].replace("|", "/") for profile in machine.failed}
    said = dict.fromkeys(wrong.values())
    failures = [f"**failed** under {', '.join(p for p in wrong if wrong[p] == text)}: {text}" for text in said]
    passed = [profile for profile in machine.selftest if profile not in machine.failed]
    return "; ".join([*failures, *([f"passed under {', '.join(passed)}"] if passed else [])])


def jobs_of(found: Found) -> list[str]:
    """Return the jobs that were ordered."""
    return list(dict.fromkeys(order.job for order in found.ordered))


def profiles_of(found: Found) -> list[str]:
    """Return the profiles: rounded ones before exact ones, more bits before fewer."""
    names = {order.profile for order in found.ordered}
    return sorted(
        names, key=lambda name: (is_exact(name), "bfloat16" in name, -int(name.rsplit("-", 1)[1].lstrip("bfloat")))
    )


def pair_section(found: Found, pair: tuple[str, str]) -> str:
    """Return the section on two machines."""
    first, second = pair
    profiles = profiles_of(found)
    rows = [[job, *(_cell(found, pair, job, profile) for profile in profiles)] for job in jobs_of(found)]
    return _PAIR.format(
        first=first,
        second=second,
        table=markdown(["job", *profiles], rows),
        counts=_counts(found, pair),
        control=_control(found, pair),
        tampered=_tampered(found, pair),
    )


def _cell(found: Found, pair: tuple[str, str], job: str, profile: str) -> str:
    there = found.replay_of(pair[0], pair[1], job, profile)
    back = found.replay_of(pair[1], pair[0], job, profile)
    equal = _equal(found, pair, job, profile)
    if there is None and back is None:
        return "-"
    both = " / ".join(_replay(one) for one in (there, back))
    return f"{both}, {equal}" if equal else both


def _replay(one: Replayed | None) -> str:
    if one is None:
        return "-"
    return str(one.corrections) if one.as_expected else f"**{one.outcome}**"


def _counts(found: Found, pair: tuple[str, str]) -> str:
    lines = []
    for profile in profiles_of(found):
        equal = [_equal(found, pair, job, profile) for job in jobs_of(found)]
        known = [one for one in equal if one is not None]
        if known:
            states = sum(one in ("run root", "state") for one in known)
            lines.append(f"{profile} {known.count('run root')} and {states} of {len(known)}")
    return f"Equal run roots, and equal states: {'; '.join(lines)}."


def _control(found: Found, pair: tuple[str, str]) -> str:
    controls = found.controls(*pair)
    differ = [job for job, equal in controls if not equal]
    alike = [job for job, equal in controls if equal]
    text = f"In {len(differ)} of {len(controls)} the state differs after the last step"
    if differ:
        text += f" ({'; '.join(differ)})"
    return f"{text}; it is equal in {'; '.join(alike)}." if alike else f"{text}."


def _tampered(found: Found, pair: tuple[str, str]) -> str:
    rows = []
    for recorded in found.recorded:
        if not recorded.tampered or recorded.machine not in pair:
            continue
        audits = [found.replay_of(recorded.machine, machine, recorded.job, recorded.profile, True) for machine in pair]
        said = [f"{one.outcome}, capsule {one.adjudicated or 'none'}" if one else "-" for one in audits]
        digests = {one.capsule for one in audits if one}
        same = "yes" if len(digests) == 1 and all(audits) and "" not in digests else "no" if all(audits) else "-"
        rows.append([f"{recorded.job}, {recorded.profile}", recorded.machine, *said, same])
    if not rows:
        return "No tampered run was recorded."
    heads = ["tampered run", "recorded on", *(f"audited on {machine}" for machine in pair), "capsules byte-identical"]
    return markdown(heads, rows)


def _refused(found: Found) -> str:
    refused = [one for one in found.ordered if not one.order]
    if not refused:
        return "Every job could be ordered under every profile."
    rows = [[one.job, one.profile, one.refused.replace("\n", " ").replace("|", "/")] for one in refused]
    return "Not ordered:\n\n" + markdown(["job", "profile", "why"], rows)
