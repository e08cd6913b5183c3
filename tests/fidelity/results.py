"""What became of the scripts, kept between trials, and the section of docs/scripts.md that is made of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.fidelity import judge
from tests.fidelity.trial import Trial

RESULTS = Path(__file__).parent / "results.jsonl"
COLUMNS = (judge.AGREES, judge.DRAWS, judge.REFUSED, judge.DIFFERENT, judge.CRASH)
TRIED = frozenset(COLUMNS)
_LONGEST = 300
_FOLDERS = re.compile(r"(?:/[^\s/()]+)+/(?:site-packages|lib/python3\.\d+|engine)/")
"""Where this machine has its libraries."""
Row = Mapping[str, str]


def results(path: Path = RESULTS) -> dict[str, Row]:
    """What is kept, by the names of the scripts."""
    if not path.exists():
        return {}
    rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
    return {row["name"]: row for row in rows}


def row_of(trial: Trial) -> Row:
    """What is kept of a trial."""
    sentence = _FOLDERS.sub("", " ".join(trial.sentence.split()))
    if len(sentence) > _LONGEST:
        sentence = sentence[: _LONGEST - 3].rstrip() + "..."
    return {"name": trial.name, "outcome": trial.outcome, "sentence": sentence}


def keep(trials: Iterable[Trial], names: Iterable[str], path: Path = RESULTS) -> None:
    """Put what became of scripts in the place of what was known of them.

    Args:
        trials: What became of them; those that could not be tried here change nothing.
        names: The scripts that there are.
        path: The file.
    """
    kept = {**results(path), **{trial.name: row_of(trial) for trial in trials if trial.outcome in TRIED}}
    rows = [kept[name] for name in sorted(names) if name in kept]
    path.write_text("".join(json.dumps(row, sort_keys=True) + "\n" for row in rows), encoding="utf-8")


def section(kept: Mapping[str, Row]) -> str:
    """The section of the page."""
    rows = sorted(kept.values(), key=lambda row: row["name"])
    idioms = sorted({_idiom(row) for row in rows})
    counts = {idiom: [_count(rows, column, idiom) for column in COLUMNS] for idiom in idioms}
    lines = [
        "## Scripts of our own, by idiom",
        "",
        "Short scripts in `tests/fidelity/scripts`, each an ordinary way to write a training loop. Each runs as it is",
        "and is ordered; the order is executed from its own beginning, and what it ends with is held against what the",
        "script ended with, by a judge that shares nothing with the comparison that the product makes. All are tried,",
        "and this section is written, by `python -m tests.fidelity --write docs/scripts.md`.",
        "",
        "*agrees*: the losses are the script's, and each tensor ends within 0.2 % of the way that the script moved it.",
        "*draws*: the steps draw random numbers, which an order draws with a generator of its own; the number of steps",
        "is right, and without its draws it agrees wherever that can be tried. *refused*: it is not ordered, and a",
        "sentence says why. *different*: it is ordered and trains something else. *crash*: neither an order nor a",
        "sentence.",
        "",
        f"Of {len(rows)} scripts: " + ", ".join(f"{column} {_count(rows, column)}" for column in COLUMNS) + ".",
        "",
        f"| idiom | scripts | {' | '.join(COLUMNS)} |",
        "|---|---|" + "---|" * len(COLUMNS),
    ]
    for idiom, counted in counts.items():
        lines.append(f"| {idiom} | {sum(counted)} | {' | '.join(str(n) if n else '' for n in counted)} |")
    for outcome, title in (
        (judge.REFUSED, "Refused, and why"),
        (judge.DIFFERENT, "Different"),
        (judge.CRASH, "Crashes"),
    ):
        chosen = [row for row in rows if row["outcome"] == outcome]
        if chosen:
            lines += ["", f"### {title}", "", "| script | what is said |", "|---|---|"]
            lines += [f"| {row['name']} | {_cell(row['sentence'])} |" for row in chosen]
    return "\n".join(lines) + "\n"


def _idiom(row: Row) -> str:
    return row["name"].partition("/")[0]


def _count(rows: Iterable[Row], outcome: str, idiom: str | None = None) -> int:
    return sum(row["outcome"] == outcome and idiom in (None, _idiom(row)) for row in rows)


def _cell(text: str) -> str:
    for sign in "\\`*_<>[]|":
        text = text.replace(sign, f"\\{sign}")
    return text
