"""Results of the trial, what is said of survivors, and the page made of both."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
RESULTS, JUDGED, PAGE = HERE / "results.jsonl", HERE / "judged.json", HERE.parents[1] / "docs" / "mutation.md"
ROOMS = (
    "counterfoil_core/hearing", "counterfoil_core/judge", "counterfoil_core/replay", "counterfoil_core/statement",
    "counterfoil_core/operators", "counterfoil_core/arithmetic", "counterfoil_core/kernels", "counterfoil_core/commit",
    "counterfoil_core/bundle", "counterfoil/delivery", "counterfoil/signer",
)  # fmt: skip
LEFT_OUT = ("cuda/exact.py", "cuda/rounding.py", "cuda/sha256.py", "__init__.py", "device_products.py")
"""What runs on CUDA only is not mutated."""
INTRODUCTION = """\
*For*: whoever asks how much the tests notice.
*Answers*: how many small wrong changes of the code the tests found, and why the others survived.

Made by `python -m tests.mutation` ([how](../tests/mutation/__main__.py)): small wrong changes of functions, a sample of
each package drawn by a seed, tried one at a time against the tests that reach the function. A mutant that fails a
test, ends the process or never ends is killed. Each survivor was looked at. Bodies of functions are mutated; sentences,
defaults of arguments, constants of modules and what runs on CUDA only are not. Tests that start other processes see no
mutant there. Packages and files have the names that they had when the mutant was tried."""
KINDS = {
    "equivalent": "does the same for every input",
    "wording": "changes a sentence, a speed or the use of memory, and nothing that is concluded",
    "guarded": "is caught by another check behind it, which a test holds",
    "killed since": "was survived, and is seen by a test written for it",
    "judgement": "changes what is concluded, and no test sees it",
}


def results() -> dict[str, Any]:
    """The last result of each mutant, by key."""
    if not RESULTS.is_file():
        return {}
    found = (json.loads(line) for line in RESULTS.read_text(encoding="utf-8").splitlines())
    return {entry["key"]: entry for entry in found}


def keep(result: dict[str, Any]) -> None:
    """Append one result."""
    with RESULTS.open("a", encoding="utf-8") as sink:
        print(json.dumps(result, ensure_ascii=False), file=sink)


def judged() -> dict[str, Any]:
    """Kind and reason of each survivor that somebody looked at, by key."""
    return json.loads(JUDGED.read_text(encoding="utf-8")) if JUDGED.is_file() else {}


def text() -> str:
    """The page."""
    found, said = results(), judged()
    tried = Counter(_room(entry) for entry in found.values())
    rooms = [room for room in dict.fromkeys((*ROOMS, *sorted(tried))) if tried[room]]
    killed = Counter(_room(entry) for entry in found.values() if entry["outcome"] == "killed")
    survivors = {key: entry for key, entry in found.items() if entry["outcome"] != "killed"}
    kinds = {
        room: Counter(_kind(key, said) for key, entry in survivors.items() if _room(entry) == room) for room in rooms
    }
    named = [kind for kind in (*KINDS, "open") if any(counts[kind] for counts in kinds.values())]
    lines = [
        "# Mutation trial",
        "",
        *INTRODUCTION.splitlines(),
        "",
        f"| package | mutants | killed | {' | '.join(named)} |" if named else "| package | mutants | killed |",
        "|---|" + "---|" * (2 + len(named)),
    ]
    for room in rooms:
        cells = [tried[room], killed[room], *(kinds[room][kind] for kind in named)]
        lines.append(f"| `{room}/` | " + " | ".join(map(str, cells)) + " |")
    total = [
        sum(tried.values()),
        sum(killed.values()),
        *(sum(counts[kind] for counts in kinds.values()) for kind in named),
    ]
    lines += ["| all | " + " | ".join(map(str, total)) + " |", ""]
    lines += [f"- **{kind}**: {KINDS[kind]}" for kind in named if kind in KINDS]
    lines += [""] * bool(named) + [
        "## Survivors",
        "",
        "| where | before | after | kind | why |",
        "|---|---|---|---|---|",
    ]
    for key, entry in sorted(survivors.items(), key=lambda item: (item[1]["path"], item[1]["function"], item[0])):
        where = f"`{entry['path']}` `{entry['function']}`"
        reason = said.get(key, {}).get("reason", "")
        lines.append(
            f"| {where} | {_code(entry['before'])} | {_code(entry['after'])} | {_kind(key, said)} | {reason} |"
        )
    return "\n".join(lines) + "\n"


def write() -> None:
    PAGE.write_text(text(), encoding="utf-8")


def _room(entry: dict[str, Any]) -> str:
    parts = str(entry["path"]).split("/")
    return "/".join(parts[: 1 + parts[0].startswith("counterfoil")])


def _kind(key: str, said: dict[str, Any]) -> str:
    return str(said.get(key, {}).get("kind", "open"))


def _code(line: str) -> str:
    return f"`` {line.replace('|', chr(92) + '|')} ``"
