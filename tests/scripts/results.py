"""What became of the scripts, kept between trials, and the page made of it."""

from __future__ import annotations

import json
import statistics
from pathlib import Path
from typing import Any

from tests.fidelity import results as fidelity
from tests.scripts.campaign import PROFILES, Trial
from tests.scripts.entries.table import SCRIPTS
from tests.scripts.entry import Script

RESULTS = Path(__file__).parent / "results.jsonl"
PAGE = Path(__file__).parents[2] / "docs" / "scripts.md"
INTRODUCTION = """\
# Public training scripts

*For*: whoever asks whether a published training script can be ordered as it is.
*Answers*: which were tried, and what became of each.

What becomes of training scripts that others published, each given to `counterfoil order --script` as it was fetched:
run as it is, ordered, recorded and audited, at a tiny size on a processor, under the default profile and under an exact
one ([profiles](profiles.md)). None of them is kept here. Whoever wants to try them fetches the repositories into one
folder, `FOLDER/OWNER/NAME`, and says

```console
$ COUNTERFOIL_SCRIPTS=FOLDER python -m tests.scripts --write docs/scripts.md
$ COUNTERFOIL_SCRIPTS=FOLDER pytest -m slow tests/scripts
```

The first tries them and writes this page; the second fails where a row is not what comes out. The command line of each
is in `tests/scripts/entries`. Data are a few generated images, sentences and graphs; pretrained models are tiny ones
with random weights under the public name; libraries that cannot be had beside this torch, or that only talk to a
service, are replaced by the few functions in `tests/scripts/standins`.

**lines** are those that somebody has to touch for Counterfoil's sake, counted by a difference between the fetched files
and the ones that ran; a replaced line counts once. Lines that are changed in every run, since no argument makes the
script small or leaves the GPU out, are counted apart, in the remark. **loss** is the largest relative difference of a
recorded loss from the script's own in float32, with the same seeds; there is none where a script seeds nothing, and
where a step draws random numbers, since an order draws them with a generator of its own."""


def results() -> dict[str, dict[str, Any]]:
    if not RESULTS.exists():
        return {}
    rows = map(json.loads, RESULTS.read_text(encoding="utf-8").splitlines())
    return {row["script"]: row for row in rows}


def keep(trial: Trial) -> None:
    """Put what became of a script in the place of what was known of it."""
    kept = results()
    kept[trial.script.name] = row_of(trial)
    order = [script.name for script in SCRIPTS]
    rows = [kept[name] for name in order if name in kept]
    RESULTS.write_text("".join(json.dumps(row, sort_keys=True) + "\n" for row in rows), encoding="utf-8")


def row_of(trial: Trial) -> dict[str, Any]:
    return {
        "script": trial.script.name,
        "changed": trial.changed,
        "resized": trial.resized,
        "difference": None if trial.difference is None else float(f"{trial.difference:.1e}"),
        "verdicts": {outcome.profile: outcome.verdict for outcome in trial.outcomes},
        "compared": {outcome.profile: outcome.compared for outcome in trial.outcomes if outcome.compared},
        "sentences": {outcome.profile: outcome.sentence for outcome in trial.outcomes if outcome.sentence},
    }


def page(kept: dict[str, dict[str, Any]], scripts: tuple[Script, ...] = SCRIPTS) -> str:
    """The page of the scripts that were tried."""
    rows = [(script, kept[script.name]) for script in scripts if script.name in kept]
    whole = [row for _script, row in rows if all(verdict == "VERIFIED" for verdict in row["verdicts"].values())]
    compared = sum(_compared_in_all(row) for row in whole)
    changed = statistics.median([row["changed"] for _script, row in rows]) if rows else 0
    untouched = sum(row["changed"] == 0 for row in whole)
    lines = [
        INTRODUCTION,
        "",
        f"Of {len(scripts)} scripts in the table {len(rows)} were tried. Whole under both profiles: {len(whole)}, "
        f"{untouched} of them without a changed line; the median of the changed lines is {changed:g}. Of these orders "
        f"the product compared those of {compared} scripts with what the script itself does, in every ordered step "
        "([how](comparison.md)).",
        "",
        f"| script | lines | {' | '.join(PROFILES)} | loss | remark |",
        "|---|---|---|---|---|---|",
    ]
    for script, row in rows:
        verdicts = " | ".join(row["verdicts"].get(profile, "") for profile in PROFILES)
        loss = "" if row["difference"] is None else f"{row['difference']:.1e}"
        name = f"{script.repository}: {script.path}" + (f", {script.variant}" if script.variant else "")
        lines.append(f"| {name} | {row['changed']} | {verdicts} | {loss} | {_remark(script, row)} |")
    return "\n".join(lines) + "\n\n" + fidelity.section(fidelity.results())


def _compared_in_all(row: dict[str, Any]) -> bool:
    said = row["compared"]
    return all(said.get(profile, "").startswith(("all ", "its only step")) for profile in row["verdicts"])


def _remark(script: Script, row: dict[str, Any]) -> str:
    said = [script.remark] if script.remark else []
    for kind, changes in (("changed", script.changes), ("in every run", script.size)):
        reasons = list(dict.fromkeys(change.why for change in changes))
        if reasons:
            count = row["changed"] if kind == "changed" else row["resized"]
            said.append(f"{count} {'line' if count == 1 else 'lines'} {kind}: {', '.join(reasons)}")
    if row["compared"] and not _compared_in_all(row):
        said += [f"compared in {steps}" for steps in dict.fromkeys(row["compared"].values())]
    said += dict.fromkeys(row["sentences"].values())
    return ". ".join(part.replace("|", "\\|").rstrip(".") for part in said)
