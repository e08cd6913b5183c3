"""Fine-tunes a small language model from beginning to end: ordered, recorded, audited, delivered, verified.

    python examples/fine_tuning.py --folder counterfoil-example [--text plays.txt]

It shows each command line and runs it, says what it took, and ends with the loss of the model before and after on a
text that neither has learned. `make example` calls it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import shutil
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SHORT = (" --steps 300", " --epochs 4 --lr 0.0005")
"""Options for the two programs where the text is the short one that comes with Counterfoil: of what is read too often,
nothing is learned but the text itself."""
LONG = ("", " --epochs 1 --lr 0.0005")
PROGRAMS = {"counterfoil": [sys.executable, "-m", "counterfoil.cli"], "python": [sys.executable]}


@dataclass(frozen=True)
class Taken:
    """What a command took: seconds by the clock, seconds of processors, and the most memory in MiB."""

    what: str
    seconds: float
    processor: float
    memory: int


def run(what: str, command: str, folder: Path) -> tuple[Taken, str]:
    """Show a command line, run it in the folder, and return what it took and printed."""
    print(f"$ {command}", flush=True)
    name, *arguments = shlex.split(command)
    begun = time.perf_counter()
    process = subprocess.Popen(
        [*PROGRAMS[name], *arguments], cwd=folder, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        print(line, end="", flush=True)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"The command ended with {process.returncode}: {command}")
    taken = Taken(what, time.perf_counter() - begun, used.ru_utime + used.ru_stime, used.ru_maxrss // 1024)
    return taken, "".join(lines)


def commands(text: str | None, small: str, order: str, device: str) -> list[tuple[str, str]]:
    """What is done, in words and as a command line; ``small`` and ``order`` are options of two of them."""
    where = "" if device == "cpu" else f" --device {device}"
    script = shlex.quote(str(HERE / "small_gpt.py"))
    given = "" if text is None else f" --text {shlex.quote(text)}"
    return [
        ("pre-training, not recorded", f"python {script} base{given}{small}"),
        ("trainer's key", "counterfoil keygen trainer.pem --no-passphrase"),
        ("auditor's key", "counterfoil keygen auditor.pem --no-passphrase"),
        ("order", f"counterfoil order hf base/model --data base/tune.txt{order} --out tune.cfoil --force"),
        ("training, recorded", f"counterfoil train tune.cfoil --out tuned.cfoil --key trainer.pem --force{where}"),
        (
            "audit",
            f"counterfoil audit tuned.cfoil --order tune.cfoil --verdict tuned.json --key auditor.pem --force{where}",
        ),
        ("delivery", "counterfoil export tuned.cfoil --safetensors delivered --force"),
        (
            "check of the delivery",
            "counterfoil verify-weights delivered tuned.cfoil --verdict tuned.json --key auditor.pub.pem",
        ),
    ]


def main() -> None:
    """Run the example."""
    parser = argparse.ArgumentParser(description="Fine-tune a small language model from beginning to end.")
    parser.add_argument("--folder", type=Path, default=Path("counterfoil-example"))
    parser.add_argument("--text", help="the plays to learn; 100 kB that come with Counterfoil unless given")
    parser.add_argument("--small", help="options for small_gpt.py")
    parser.add_argument("--order", help="options for 'counterfoil order hf'")
    parser.add_argument("--device", default="cpu", help="where to train and to audit: cpu or cuda:0 (default cpu)")
    parser.add_argument("--json", type=Path, help="a file that takes the figures for programs")
    parser.add_argument("--write", type=Path, help="a page that takes the figures")
    given = parser.parse_args()
    folder = given.folder.resolve()
    folder.mkdir(parents=True, exist_ok=True)
    for key in ("trainer.pem", "auditor.pem", "trainer.pub.pem", "auditor.pub.pem"):
        (folder / key).unlink(missing_ok=True)
    text = None if given.text is None else str(Path(given.text).resolve())

    small, order = SHORT if text is None else LONG
    small, order = (f" {chosen.strip()}" for chosen in (given.small or small, given.order or order))
    taken, printed = [], []
    for what, command in commands(text, small.rstrip(), order, given.device):
        each, output = run(what, command, folder)
        taken.append(each)
        printed.append(output)
    # The weights are the run's; with what else belongs to the model, the folder is one that transformers load.
    for file in (folder / "base" / "model").iterdir():
        if file.suffix == ".json":
            shutil.copy(file, folder / "delivered" / file.name)
    script = shlex.quote(str(HERE / "held_out_loss.py"))
    each, losses = run("losses", f"python {script} base/held-out.txt base/model delivered", folder)
    taken.append(each)
    page = figures(folder, taken, printed, losses, given.text)
    print(page)
    if given.json is not None:
        given.json.write_text(json.dumps(for_programs(folder, taken, printed, losses), indent=1), encoding="utf-8")
    if given.write is not None:
        sys.path.append(str(HERE.parent))  # where the laboratory is, which knows how a page is written
        from benchmarks.pages import write_between

        write_between(given.write, "figures", page)


def for_programs(folder: Path, taken: list[Taken], printed: list[str], losses: str) -> dict[str, Any]:
    """The figures as JSON takes them."""
    return {
        "taken": [asdict(each) for each in taken],
        "made": printed[0].strip().splitlines()[-1],
        "ordered": ordered(printed),
        "losses": losses_of(losses),
        "bytes": {path.name: path.stat().st_size for path in sorted(folder.glob("*.cfoil"))},
    }


def losses_of(printed: str) -> list[str]:
    """The loss on the held-out text before and after."""
    return [line.split("loss ")[1].split()[0] for line in printed.splitlines() if "loss " in line]


def ordered(printed: list[str]) -> list[str]:
    """What the order's command said of the job."""
    return [line for line in printed[3].splitlines() if "rows of" in line or line.startswith("Ordered")]


def figures(folder: Path, taken: list[Taken], printed: list[str], losses: str, text: str | None) -> str:
    """The figures as Markdown."""
    import torch
    import transformers

    name = next(
        (line.split(":")[1].strip() for line in _lines("/proc/cpuinfo") if line.startswith("model name")),
        platform.processor() or platform.machine(),
    )
    before, after = losses_of(losses)
    size = {path.name: path.stat().st_size for path in folder.glob("*.cfoil")}
    weights = (folder / "delivered" / "model.safetensors").stat().st_size
    load = os.getloadavg()[1] if hasattr(os, "getloadavg") else float("nan")
    rows = "".join(f"| {t.what} | {t.seconds:.0f} s | {t.processor:.0f} s | {t.memory} MiB |\n" for t in taken)
    total = f"| **all** | {sum(t.seconds for t in taken):.0f} s | {sum(t.processor for t in taken):.0f} s | |\n"
    source = "the text that comes with Counterfoil" if text is None else Path(text).name
    return (
        f"Measured on {time.strftime('%Y-%m-%d')} on {name}, {os.cpu_count()} cores, "
        f"threads: {torch.get_num_threads()}, mean load {load:.1f} over the last 5 minutes; "
        f"torch {torch.__version__}, transformers {transformers.__version__}, "
        f"Python {platform.python_version()}; {source}.\n\n"
        f"{printed[0].strip().splitlines()[-1]} {' '.join(ordered(printed))}\n\n"
        f"| | by the clock | of processors | memory |\n|---|---|---|---|\n{rows}{total}\n"
        f"| | |\n|---|---|\n"
        f"| loss a token, held-out text, before | {before} |\n| the same, after | {after} |\n"
        f"| order | {size['tune.cfoil'] / 1e6:.1f} MB |\n| run | {size['tuned.cfoil'] / 1e6:.1f} MB |\n"
        f"| delivered weights | {weights / 1e6:.2f} MB |\n\n"
    )


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text(encoding="utf-8").splitlines()
    except OSError:
        return []


if __name__ == "__main__":
    main()
