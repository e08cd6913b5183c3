"""What is shown of runs recorded on one machine and replayed on another, from the rows of their results alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from benchmarks.answer_agreement import ANSWERS, strange_check
from benchmarks.measure import Sections, Values
from benchmarks.pages import machine_name, markdown, one_line, paragraphs, today
from counterfoil_core.base.precision import PROFILES

PAGE = "cross-hardware.md"
NATIVE, FEWER = "torch-2.13", ("torch-2.13-avx2", "torch-2.13-sse4")
"""The machine of packaging/torches.sh as it is, and the same with fewer instructions."""
Pair = tuple[str, str]


@dataclass(frozen=True)
class CampaignRows:
    """The results, with stale ones left out: those of orders that were changed since."""

    ordered: Sequence[Values]  #: The campaign's orders.
    captured: Sequence[Values]  #: The same jobs, captured by other machines.
    machines: Sequence[Values]  #: The machines.
    recorded: Sequence[Values]  #: Their runs.
    replayed: Sequence[Values]  #: Their audits of others' runs.
    trained: Sequence[Values]  #: Their ordinary training.
    answered: Sequence[Values]  #: Their answers.
    checked: Sequence[Values]  #: Their checks of others' answers.

    @classmethod
    def of(cls, rows: Iterable[Values]) -> CampaignRows:
        """Sort the rows by kind."""
        rows = list(rows)
        kinds = {
            kind: [row for row in rows if row["kind"] == kind]
            for kind in ("ordered", "machine", "recorded", "replayed", "trained", "answered", "checked")
        }
        ordered = [row for row in kinds["ordered"] if not row["machine"]]
        orders = {row["order"] for row in ordered if row["order"]}
        recorded = [row for row in kinds["recorded"] if row["order"] in orders]
        roots = {(row["machine"], row["run_root"]) for row in recorded}
        return cls(
            ordered,
            [row for row in kinds["ordered"] if row["machine"]],
            kinds["machine"],
            recorded,
            [
                row
                for row in kinds["replayed"]
                if row["order"] in orders and (row["recorder"], row["run_root"]) in roots
            ],
            [row for row in kinds["trained"] if not row["order"] or row["order"] in orders],
            kinds["answered"],
            [
                row
                for row in kinds["checked"]
                if (row["maker"], row["digest"]) in {(one["machine"], one["digest"]) for one in kinds["answered"]}
            ],
        )

    @property
    def jobs(self) -> list[str]:
        """The jobs that were ordered."""
        return list(dict.fromkeys(row["job"] for row in self.ordered))

    @property
    def profiles(self) -> list[str]:
        """The profiles: rounded ones before exact ones, more bits before fewer."""
        found = {row["profile"] for row in self.ordered}
        return [name for name in PROFILES if name in found]

    @property
    def pairs(self) -> list[Pair]:
        """Machines of which one replayed what the other recorded, each pair once."""
        between = {frozenset((row["recorder"], row["machine"])) for row in self.replayed}
        return [
            pair for pair in combinations([row["machine"] for row in self.machines], 2) if frozenset(pair) in between
        ]

    def runs(self, job: str, profile: str, tampered: bool = False) -> dict[str, Values]:
        """Return the recordings of a job, by machine."""
        key = (job, profile, tampered)
        return {row["machine"]: row for row in self.recorded if (row["job"], row["profile"], row["tampered"]) == key}

    def replay(self, pair: Pair, job: str, profile: str, tampered: bool = False) -> Values | None:
        """Return the replay of the first machine's run on the second."""
        key = (*pair, job, profile, tampered)
        names = ("recorder", "machine", "job", "profile", "tampered")
        return next((row for row in self.replayed if tuple(row[name] for name in names) == key), None)

    def controls(self, pair: Pair) -> dict[str, bool]:
        """Return the jobs that two machines trained ordinarily, and whether the states are equal."""
        roots = {(row["machine"], row["job"], row["order"]): row["state_root"] for row in self.trained}
        return {
            job: root == roots[pair[1], job, order]
            for (machine, job, order), root in roots.items()
            if machine == pair[0] and (pair[1], job, order) in roots
        }

    def equal(self, pair: Pair, job: str, profile: str, tampered: bool = False) -> str:
        """What is equal in two machines' recordings; nothing said when one is missing."""
        runs = self.runs(job, profile, tampered)
        if not set(pair) <= runs.keys():
            return ""
        first, second = (runs[machine] for machine in pair)
        if first["run_root"] == second["run_root"]:
            return "run root"
        return "state" if first["state_root"] == second["state_root"] else "nothing"


def is_exact(profile: str) -> bool:
    """Whether every result of a profile is defined by mathematics, so that runs must have equal roots."""
    return profile.startswith("exact-")


# What should not be.


def audit_surprises(found: CampaignRows) -> list[str]:
    """Return a sentence for each audit that did not end as it should, and for each capsule that differs."""
    bad = [
        f"{row['job']}, {row['profile']}, {'tampered, ' if row['tampered'] else ''}{row['recorder']} on "
        f"{row['machine']}: {row['outcome']}, {row['mismatched']} steps differ, {row['contradictions']} "
        f"contradictions, {row['omissions']} omissions, capsule {row['adjudicated'] or 'none'}"
        for row in found.replayed
        if not row["expected"]
    ]
    capsules: dict[tuple[str, ...], set[str]] = {}
    for row in found.replayed:
        if row["capsule"]:
            capsules.setdefault((row["recorder"], row["job"], row["profile"]), set()).add(row["capsule"])
    return bad + [
        f"{job}, {profile}: machines made {len(digests)} different capsules of {recorder}'s run"
        for (recorder, job, profile), digests in capsules.items()
        if len(digests) > 1
    ]


def surprises(found: CampaignRows) -> list[str]:
    """Return a sentence for everything that should not be: what accuses honest machines, or fails to find a forger."""
    unequal = [
        f"{order['job']}, {order['profile']}: the run roots of {pair[0]} and {pair[1]} differ"
        for pair in found.pairs
        for order in filter(lambda row: is_exact(row["profile"]), found.ordered)
        for tampered in (False, True)
        if found.equal(pair, order["job"], order["profile"], tampered) not in ("", "run root")
    ]
    alike = [
        f"no ordinary training differs between {first} and {second}, so that equal runs show little"
        for first, second in found.pairs
        if all(found.controls((first, second)).values())
    ]
    answers = [
        sentence
        for one in found.checked
        for sentence in strange_check(one, f"the {one['answer']} answer of {one['maker']} on {one['machine']}")
    ]
    digests = {name: {one["digest"] for one in found.answered if one["answer"] == name} for name in ANSWERS}
    answers += [f"the {name} answers of the machines differ" for name, several in digests.items() if len(several) > 1]
    return [*audit_surprises(found), *unequal, *alike, *answers]


def summary(found: CampaignRows, strange: Sequence[str]) -> str:
    """Return how many audits ended as they should, and a line for each thing that is strange."""
    honest = [row["expected"] for row in found.replayed if not row["tampered"]]
    tampered = [row["expected"] for row in found.replayed if row["tampered"]]
    said = (
        f"{sum(honest)} of {len(honest)} audits of honest runs: VERIFIED, with no contradiction and no omission. "
        f"{sum(tampered)} of {len(tampered)} audits of tampered runs: DISPUTED, and the capsule CONFIRMED. "
        f"{'Unexpected:' if strange else 'Nothing was unexpected.'}"
    )
    return "\n".join([said, *(f"- {line}" for line in strange)])


# Tables.


def machine_table(found: CampaignRows) -> str:
    """Return the table of machines."""

    def row(one: Values) -> list[str]:
        environment, name = one["environment"], one["machine"]
        versions = ", ".join(f"{what} {environment.get(what, '?')}" for what in ("torch", "python", "numpy"))
        computes = f"{one['device']}; {environment.get('cpu_capability', '?')}; {one['libraries']}; {versions}"
        counts = [str(sum(each["machine"] == name for each in rows)) for rows in (found.recorded, found.replayed)]
        return [name, one["about"], computes, *counts, _selftest(one)]

    heads = ["machine", "what it is", "device, instruction set, libraries", "runs", "audits", "self-test"]
    return markdown(heads, map(row, found.machines))


def _selftest(machine: Values) -> str:
    said, failed = machine["selftest"], machine["failed"]
    sentences = dict.fromkeys(said[profile] for profile in failed)
    wrong = [
        f"**failed** under {', '.join(p for p in failed if said[p] == text)}: {one_line(text)}" for text in sentences
    ]
    passed = ", ".join(profile for profile in said if profile not in failed)
    return "; ".join([*wrong, *([f"passed under {passed}"] if passed else [])])


def pair_section(found: CampaignRows, pair: Pair) -> str:
    """Return the section on two machines."""
    profiles = found.profiles
    rows = [[job, *(_cell(found, pair, job, profile) for profile in profiles)] for job in found.jobs]
    return paragraphs(
        f"## {pair[0]} and {pair[1]}", markdown(["job", *profiles], rows), _counts(found, pair),
        f"**The control:** the same jobs, trained ordinarily in float32. {_control(found, pair)}",
        _tampered(found, pair), _answers(found, pair),
    )  # fmt: skip


def _answers(found: CampaignRows, pair: Pair) -> str:
    digests = {
        machine: {one["answer"]: one["digest"] for one in found.answered if one["machine"] == machine}
        for machine in pair
    }
    both = [name for name in digests[pair[0]] if name in digests[pair[1]]]
    checks = [one for one in found.checked if {one["maker"], one["machine"]} == set(pair)]
    if not both or not checks:
        return ""
    same = sum(digests[pair[0]][name] == digests[pair[1]][name] for name in both)
    right = sum(not strange_check(one, "") for one in checks)
    return (
        f"**[Answers](answers.md)** ({', '.join(both)}): {same} of {len(both)} are the same to the bit. Of "
        f"{len(checks)} checks of the other machine's, {right} are VERIFIED, and DISPUTED at its place where one token "
        "is another."
    )


def _cell(found: CampaignRows, pair: Pair, job: str, profile: str) -> str:
    replays = [found.replay(way, job, profile) for way in (pair, pair[::-1])]
    if not any(replays):
        return "-"
    said = [
        "-" if one is None else str(one["corrections"]) if one["expected"] else f"**{one['outcome']}**"
        for one in replays
    ]
    return ", ".join(filter(None, [" / ".join(said), found.equal(pair, job, profile)]))


def _counts(found: CampaignRows, pair: Pair) -> str:
    lines = []
    for profile in found.profiles:
        known = [equal for job in found.jobs if (equal := found.equal(pair, job, profile))]
        if known:
            states = sum(one in ("run root", "state") for one in known)
            lines.append(f"{profile} {known.count('run root')} and {states} of {len(known)}")
    return f"Equal run roots, and equal states: {'; '.join(lines)}."


def _control(found: CampaignRows, pair: Pair) -> str:
    controls = found.controls(pair)
    differ, alike = ([job for job, equal in controls.items() if equal == wanted] for wanted in (False, True))
    text = f"In {len(differ)} of {len(controls)} the state differs after the last step"
    text += f" ({'; '.join(differ)})" if differ else ""
    return f"{text}; it is equal in {'; '.join(alike)}." if alike else f"{text}."


def _tampered(found: CampaignRows, pair: Pair) -> str:
    rows = []
    for run in found.recorded:
        if run["tampered"] and run["machine"] in pair:
            ways = [(run["machine"], machine) for machine in pair]
            audits = [found.replay(way, run["job"], run["profile"], True) for way in ways]
            said = [f"{one['outcome']}, capsule {one['adjudicated'] or 'none'}" if one else "-" for one in audits]
            digests = {one["capsule"] for one in audits if one}
            same = "yes" if len(digests) == 1 and all(audits) and "" not in digests else "no" if all(audits) else "-"
            rows.append([f"{run['job']}, {run['profile']}", run["machine"], *said, same])
    heads = ["tampered run", "recorded on", *(f"audited on {machine}" for machine in pair), "capsules byte-identical"]
    return markdown(heads, rows) if rows else "No tampered run was recorded."


def measured_sections(rows: Sequence[Values]) -> Sections:
    """Return the parts of docs/cross-hardware.md on the machines that were measured so far."""
    found = CampaignRows.of(rows)
    refused = [[row["job"], row["profile"], one_line(row["refused"])] for row in found.ordered if not row["order"]]
    why = "Not ordered:\n\n" + markdown(["job", "profile", "why"], refused)
    return {
        (PAGE, "machines"): machine_table(found),
        (PAGE, "pairs"): paragraphs(*(pair_section(found, pair) for pair in found.pairs)),
        (PAGE, "expected"): paragraphs(
            summary(found, surprises(found)), why if refused else "Every job could be ordered under every profile."
        ),
    }


# Versions of torch and of Python, of which there are too many pairs for a table each.


def version_sections(rows: Sequence[Values], literature: Sequence[str]) -> Sections:
    """Return the parts on versions of torch, each of which is a machine, and the table of docs/literature.md."""
    found = CampaignRows.of(rows)
    strange = [
        *audit_surprises(found),
        *(
            f"{job}, {profile}: the run roots differ between versions"
            for job in found.jobs
            for profile in filter(is_exact, found.profiles)
            if len({run["run_root"] for run in found.runs(job, profile).values()}) > 1
        ),
    ]
    return {
        (PAGE, "versions-machines"): f"Measured on {machine_name()}, {today()}.\n\n{machine_table(found)}",
        (PAGE, "versions-pairs"): _version_pairs(found),
        (PAGE, "versions-jobs"): paragraphs(_version_jobs(found), _version_control(found)),
        (PAGE, "versions-captured"): paragraphs(_captured(found), summary(found, strange)),
        ("literature.md", "measured"): literature_section(found, literature),
    }


def replays_cell(rows: Sequence[Values]) -> str:
    """Return how many replays ended as they should, and the directions that they took from logs."""
    taken = sum(row["corrections"] for row in rows)
    good = f"{sum(row['expected'] for row in rows)} of {len(rows)}" if rows else "-"
    return f"{good} ({taken})" if taken else good


def _version_pairs(found: CampaignRows) -> str:
    names = [machine["machine"] for machine in found.machines]

    def cell(pair: Pair) -> str:
        honest = [row for row in found.replayed if (row["recorder"], row["machine"]) == pair and not row["tampered"]]
        kinds = [[row for row in honest if is_exact(row["profile"]) == exact] for exact in (False, True)]
        return "-" if pair[0] == pair[1] else "; ".join(map(replays_cell, kinds))

    return markdown(
        ["recorded on, replayed on", *names], [[name, *(cell((name, other)) for other in names)] for name in names]
    )


def _version_jobs(found: CampaignRows) -> str:
    def cells(job: str) -> list[str]:
        found_cells = []
        for profile in found.profiles:
            runs = found.runs(job, profile).values()
            roots, states = (len({run[name] for run in runs}) for name in ("run_root", "state_root"))
            found_cells.append(f"{roots} / {states} of {len(runs)}" if runs else "-")
        trained = [row["state_root"] for row in found.trained if row["job"] == job]
        return [job, *found_cells, f"{len(set(trained))} of {len(trained)}" if trained else "-"]

    return markdown(["job", *found.profiles, "ordinary float32"], map(cells, found.jobs))


def _version_control(found: CampaignRows) -> str:
    """Say how much of what differs in ordinary training is due to versions, and how much to instructions."""
    capability = {row["machine"]: row["environment"].get("cpu_capability", "") for row in found.machines}
    jobs = dict.fromkeys(row["job"] for row in found.trained)
    among = []
    for kind in (kind for kind, count in Counter(capability.values()).items() if count > 1):
        states = [
            {row["state_root"] for row in found.trained if row["job"] == job and capability[row["machine"]] == kind}
            for job in jobs
        ]
        among.append(f"{kind}: {sum(len(each) > 1 for each in states)} of {len(jobs)}")
    said = "; ".join(sorted(among)) or "none"
    return f"Jobs whose ordinary training differs between versions with the same instructions: {said}."


def _captured(found: CampaignRows) -> str:
    """Say which machines, writing the orders anew, came to other digests."""
    digests = {(row["job"], row["profile"]): row["order"] for row in found.ordered}
    rows = []
    for machine in dict.fromkeys(row["machine"] for row in found.captured):
        mine = [row for row in found.captured if row["machine"] == machine and (row["job"], row["profile"]) in digests]
        other = [row for row in mine if row["order"] != digests[row["job"], row["profile"]]]
        named = ", ".join(dict.fromkeys(row["job"] for row in other)) or "none"
        rows.append([machine, f"{len(mine) - len(other)} of {len(mine)}", named])
    return markdown(["captured on", "orders with the digest of the campaign's", "jobs of the others"], rows)


def literature_section(found: CampaignRows, literature: Sequence[str]) -> str:
    """Return the table of the trainings of the literature, replayed with other instructions."""
    pairs = [pair for other in FEWER for pair in ((NATIVE, other), (other, NATIVE))]
    rows = []
    for job in literature:
        honest = [row for row in found.replayed if row["job"] == job and not row["tampered"]]
        cells = [[row for row in honest if (row["recorder"], row["machine"]) == pair] for pair in pairs]
        states = {row["state_root"] for row in found.trained if row["job"] == job}
        rows.append([job, *map(replays_cell, cells), replays_cell(honest), str(len(states)) if states else "-"])
    about = next((row["environment"].get("cpu_capability", "?") for row in found.machines), "?")
    heads = [f"recorded on {first}, replayed on {second}" for first, second in pairs]
    table = markdown(["training", *heads, "all pairs", "states of ordinary float32"], rows)
    return f"The machine as it is has {about}; {len(found.machines)} machines in all.\n\n{table}"
