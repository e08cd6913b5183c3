"""The page's section on versions of torch and of Python, each of which is a machine of the campaign, from its results.

There are too many pairs for a table each: a cell counts what became of one machine's runs on another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from benchmarks.cross_hardware.page import (
    Found,
    is_exact,
    jobs_of,
    machine_table,
    profiles_of,
    summary,
    unexpected_audits,
)
from benchmarks.cross_hardware.results import Part, Recorded
from benchmarks.pages import machine_name, markdown


def audited(found: Found, recorder: str, machine: str) -> dict[bool, tuple[int, int, int]]:
    """Count what became of the honest runs of a machine on another.

    Args:
        found: The results.
        recorder: Who recorded.
        machine: Who replayed.

    Returns:
        For the rounded (False) and the exact profiles (True): runs that ended as they should, runs that were audited,
        and the directions taken from their logs.
    """
    counts = {False: (0, 0, 0), True: (0, 0, 0)}
    for one in found.replayed:
        if (one.recorder, one.machine, one.tampered) == (recorder, machine, False):
            good, total, taken = counts[is_exact(one.profile)]
            counts[is_exact(one.profile)] = (good + one.as_expected, total + 1, taken + one.corrections)
    return counts


def unexpected(parts: Iterable[Part]) -> list[str]:
    """Return a sentence for everything that should not be.

    Ordinary training may well be equal between versions on one processor, so that it is no control of each pair.
    """
    found = Found.of(parts)
    return [*unexpected_audits(found), *_unequal_exact(found)]


def _unequal_exact(found: Found) -> Iterator[str]:
    for job in jobs_of(found):
        for profile in filter(is_exact, profiles_of(found)):
            if len({run.run_root for run in _runs(found, job, profile)}) > 1:
                yield f"{job}, {profile}: the run roots differ between versions"


def _runs(found: Found, job: str, profile: str) -> list[Recorded]:
    return [run for run in found.recorded if (run.job, run.profile, run.tampered) == (job, profile, False)]


def section(parts: Sequence[Part]) -> str:
    """Return the section as Markdown; nothing where there are no results."""
    found = Found.of(parts)
    if not found.recorded:
        return ""
    failed = unexpected(parts)
    strange = "Nothing was unexpected." if not failed else "Unexpected:\n\n" + "\n".join(f"- {one}" for one in failed)
    return _SECTION.format(
        processor=f"{machine_name('cpu')}, {datetime.now(UTC).date().isoformat()}",
        machines=machine_table(found),
        pairs=_pairs(found),
        jobs=_jobs(found),
        control=_control(found),
        captured=_captured(found),
        summary=f"{summary(found)} {strange}",
    )


def _control(found: Found) -> str:
    """Say how much of what differs in ordinary training is due to versions, and how much to instructions."""
    capability = {one.machine: one.environment.get("cpu_capability", "") for one in found.machines}
    differ = {kind: 0 for kind, count in Counter(capability.values()).items() if count > 1}
    jobs = dict.fromkeys(one.job for one in found.trained)
    for kind in differ:
        for job in jobs:
            states = {one.state_root for one in found.trained if one.job == job and capability[one.machine] == kind}
            differ[kind] += len(states) > 1
    among = [f"{kind}: {count} of {len(jobs)}" for kind, count in differ.items()]
    return (
        "Jobs whose ordinary training differs between versions with the same instructions: "
        f"{'; '.join(sorted(among)) or 'none'}.\nWhere it does not, these versions compute alike anyhow: equal runs "
        "then show that orders, files and audits are the same to each.\nWhat differs otherwise is due to instructions."
    )


def _captured(found: Found) -> str:
    """Say which machines, writing the orders anew, came to other digests."""
    digests = {(one.job, one.profile): one.order for one in found.ordered}
    rows = []
    for machine in dict.fromkeys(one.machine for one in found.captured):
        mine = [one for one in found.captured if one.machine == machine and (one.job, one.profile) in digests]
        other = [one for one in mine if one.order != digests[one.job, one.profile]]
        named = ", ".join(dict.fromkeys(one.job for one in other)) or "none"
        rows.append([machine, f"{len(mine) - len(other)} of {len(mine)}", named])
    return markdown(["captured on", "orders with the digest of the campaign's", "jobs of the others"], rows)


def _pairs(found: Found) -> str:
    names = [machine.machine for machine in found.machines]
    rows = [[name, *(_cell(found, name, other) for other in names)] for name in names]
    return markdown(["recorded on, replayed on", *names], rows)


def _cell(found: Found, recorder: str, machine: str) -> str:
    if recorder == machine:
        return "-"
    said = []
    for good, total, taken in audited(found, recorder, machine).values():
        said.append(f"{good} of {total}" + (f" ({taken})" if taken else "") if total else "-")
    return "; ".join(said)


def _jobs(found: Found) -> str:
    rows = []
    for job in jobs_of(found):
        cells = []
        for profile in profiles_of(found):
            runs = _runs(found, job, profile)
            roots, states = ({getattr(run, name) for run in runs} for name in ("run_root", "state_root"))
            cells.append(f"{len(roots)} / {len(states)} of {len(runs)}" if runs else "-")
        trained = [one for one in found.trained if one.job == job]
        cells.append(f"{len({one.state_root for one in trained})} of {len(trained)}" if trained else "-")
        rows.append([job, *cells])
    return markdown(["job", *profiles_of(found), "ordinary float32"], rows)


_SECTION = """\
## Between versions of torch

`packaging/torches.sh campaign` makes an environment for each version of torch and of Python on one processor, and does
the campaign between them: each records every job, and audits what the others recorded. Two of them have fewer
instructions than the processor. The jobs are those above and [the trainings of the literature](literature.md). They
are ordered once, by torch 2.13: an order says the same to every version that carries it out. Measured on {processor}.

{machines}

Honest runs that ended in VERIFIED without a word against them, of those that were replayed: first under the rounded
profiles, with the directions taken from their logs in brackets where there were any, then under the exact ones.

{pairs}

How many different run roots / states after the last step the machines recorded of each job, of how many recordings.
Under the exact profiles there must be one. The last column is the control: how many different states ordinary float32
training of the job ended in.

{jobs}

{control}

Orders are written by the client's torch, which decides what is captured. Each version captured the jobs, too, and the
digests of its orders were compared. Where one differs it is another order, that any version carries out and replays.

{captured}

{summary}
"""
