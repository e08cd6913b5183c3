"""Tries a public script: copied with its lines changed, run as it is, ordered, recorded and audited."""

from __future__ import annotations

import importlib.util
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.scripts.entry import Script, changed_lines

from counterfoil.cli import main
from counterfoil_core.bundle.reader import BundleReader
from support.bundles import test_key

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PROFILES = ("float64-24", "exact-20")
SECONDS = 600
"""What a command of a script may take."""
_COMPARED = re.compile(r"^Compared with the script in (.+)\.$", re.MULTILINE)
_ENDS = re.compile(r"(ERROR|REFUSED|INCONCLUSIVE|DISPUTED|Usage|Traceback)\b")


class BrokenError(Exception):
    """A script does not run as it is; with the end of what it printed."""


class MissingError(Exception):
    """A file was not fetched, or a library is not installed."""


@dataclass(frozen=True)
class Copy:
    """A script in a folder of its own, ready to be started.

    Args:
        script: Which.
        folder: Where it is started.
        path: The script itself.
        changed: Lines that were changed for the order.
        resized: Lines that were changed in every run.
    """

    script: Script
    folder: Path
    path: Path
    changed: int
    resized: int

    def environment(self) -> dict[str, str]:
        top = self.folder
        for _part in Path(self.script.started_in).parts:
            top = top.parent
        paths = [str(HERE / "standins" / name) for name in self.script.standins]
        paths += [str(top / name) for name in self.script.imports]
        # Libraries that this environment lacks may lie in a folder of their own.
        paths += filter(None, [os.environ.get("PYTHONPATH")])
        return os.environ | {
            "PYTHONPATH": os.pathsep.join(paths),
            "HF_HUB_OFFLINE": "1",
            "HF_DATASETS_OFFLINE": "1",
            "HF_HOME": str(self.folder / ".cache"),
            "MPLBACKEND": "agg",
            "PYTHONHASHSEED": "0",
            "CUDA_VISIBLE_DEVICES": "",
            **self.script.environment,
        }


def copied(script: Script, sources: Path, into: Path) -> Copy:
    """Copies what a script needs, with its lines changed, and makes its data.

    Raises:
        MissingError: A file was not fetched.
        StaleError: The fetched file is another version.
    """
    repository = sources / script.repository
    top = into / script.repository.split("/")[1]
    for name in (str(Path(script.path).parent) if "/" in script.path else script.path, *script.needs):
        _copy(repository / name, top / name)
    for repository_name, name in script.others:
        _copy(sources / repository_name / name, top / script.started_in / Path(name).name)
    path = _as_script(top / script.path, script.block)
    counts = []
    for changes in (script.size, script.changes):
        counted = 0
        for file in dict.fromkeys(change.path for change in changes):
            target = top / file
            before = text = target.read_text(encoding="utf-8")
            for change in changes:
                if change.path == file:
                    text = change.apply(text)
            target.write_text(text, encoding="utf-8")
            counted += changed_lines(before, text)
        counts.append(counted)
    folder = top / script.started_in
    folder.mkdir(parents=True, exist_ok=True)
    if script.materials is not None:
        script.materials(folder)
    return Copy(script, folder, path, counts[1], counts[0])


def _copy(source: Path, target: Path) -> None:
    if not source.exists():
        raise MissingError(f"{source} is not there")
    if source.is_dir():
        shutil.copytree(source, target, dirs_exist_ok=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def _as_script(path: Path, block: int) -> Path:
    """Writes the cells of code of a notebook, or a block of Python of a page, as a script beside it."""
    if path.suffix == ".py":
        return path
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".ipynb":
        cells = json.loads(text)["cells"]
        code = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        # Commands of the notebook's shell are none of Python's.
        code = re.sub(r"^(\s*)[%!]", r"\1# ", code, flags=re.MULTILINE)
    else:
        code = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)[block]
    path = path.with_suffix(".py")
    path.write_text(code + "\n", encoding="utf-8")
    return path


@dataclass(frozen=True)
class Outcome:
    """What became of a script under one profile.

    Args:
        profile: Which.
        verdict: The word of the audit, or ``refused`` where nothing was ordered or recorded.
        sentence: Why it was refused, or what the audit says; without it where it is whole.
        losses: The recorded ones.
        compared: In which steps the order was compared with its script, as the command says: ``all 3 steps``.
    """

    profile: str
    verdict: str
    sentence: str = ""
    losses: tuple[float, ...] = ()
    compared: str = ""

    @property
    def whole(self) -> bool:
        return self.verdict == "VERIFIED"


@dataclass(frozen=True)
class Trial:
    """What became of a script."""

    script: Script
    changed: int
    resized: int
    own: tuple[float, ...]
    outcomes: tuple[Outcome, ...]

    @property
    def whole(self) -> bool:
        return all(outcome.whole for outcome in self.outcomes)

    @property
    def difference(self) -> float | None:
        """The largest relative difference of a recorded loss from the script's own; None where they have no equal."""
        recorded = [outcome.losses for outcome in self.outcomes if outcome.profile == PROFILES[0] and outcome.losses]
        if not self.script.losses or not recorded or not self.own:
            return None
        pairs = list(zip(recorded[0], self.own, strict=False))
        return max(abs(one - other) / max(abs(other), 1e-9) for one, other in pairs)


def tried(script: Script, sources: Path, into: Path, profiles: tuple[str, ...] = PROFILES) -> Trial:
    """Run a script as it is; then order, record and audit it under each profile.

    Raises:
        MissingError: A file was not fetched, or a library is not installed.
        StaleError: The fetched file is another version.
        BrokenError: The script does not run as it is.
    """
    missing = [name for name in script.libraries if importlib.util.find_spec(name) is None]
    if missing:
        raise MissingError(f"not installed: {', '.join(missing)}")
    own = tuple(own_losses(copied(script, sources, into / "own")))
    outcomes = []
    for profile in profiles:
        copy = copied(script, sources, into / profile)
        outcomes.append(_becomes(copy, profile))
    return Trial(script, copy.changed, copy.resized, own, tuple(outcomes))


def _becomes(copy: Copy, profile: str) -> Outcome:
    folder = copy.folder
    job, run = folder / "job.cfoil", folder / "run.cfoil"
    order = ["order", "--script", str(copy.path), "--out", str(job), "--max-steps", str(copy.script.steps)]
    order += ["--precision", profile, "--", *_arguments(copy)]
    done = _run([sys.executable, "-m", "counterfoil.cli", *order], copy, copy.environment() | {"COLUMNS": "4000"})
    _log(copy, order, done.stdout)
    if done.returncode:
        return Outcome(profile, "refused", _last_words(done.stdout, folder))
    compared = "".join(_COMPARED.findall(done.stdout)[-1:])
    test_key(folder)
    code, printed = _counterfoil(copy, ["train", str(job), "--out", str(run), "--key", str(folder / "trainer.pem")])
    if code:
        return Outcome(profile, "refused", "recording: " + _last_words(printed, folder))
    with BundleReader.open(run) as reader:
        losses = tuple(map(float, reader.losses()))
    code, printed = _counterfoil(copy, ["audit", str(run), "--order", str(job)])
    verdict = re.findall(r"^(VERIFIED|DISPUTED|INCONCLUSIVE|REFUSED|ERROR)\b", printed, re.MULTILINE)
    word = verdict[-1] if verdict else "ERROR"
    return Outcome(profile, word, "" if word == "VERIFIED" else _last_words(printed, folder), losses, compared)


def _counterfoil(copy: Copy, arguments: list[str]) -> tuple[int, str]:
    """Run a command in this process, which has loaded everything; the script is no part of it any more."""
    printed = io.StringIO()
    with redirect_stdout(printed), redirect_stderr(printed):
        code = main(arguments)
    _log(copy, arguments, printed.getvalue())
    return code, printed.getvalue()


def _log(copy: Copy, arguments: list[str], printed: str) -> None:
    with (copy.folder / "counterfoil.log").open("a", encoding="utf-8") as log:
        log.write(f"$ counterfoil {' '.join(arguments)}\n{printed}\n")


def _last_words(printed: str, folder: Path) -> str:
    """The sentence that a command ended with, on one line, without the folder that the script ran in."""
    lines = [line.strip() for line in printed.strip().splitlines() if line.strip()]
    starts = [number for number, line in enumerate(lines) if _ENDS.match(line)]
    words = " ".join(lines[starts[-1] if starts else -3 :])
    libraries = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    for place in (str(folder), *libraries, str(Path(sys.prefix) / "lib"), str(ROOT)):
        words = words.replace(place + "/", "")
    return words[:900]


def own_losses(copy: Copy) -> list[float]:
    """The losses of the script as it is, in float32.

    Raises:
        BrokenError: It does not run.
    """
    out = copy.folder / "losses.json"
    command = [sys.executable, str(HERE / "plain.py"), str(out), str(copy.script.steps)]
    command += ["optimizer" if copy.script.optimizer else "backward", str(copy.path)]
    done = _run([*command, *_arguments(copy)], copy, copy.environment())
    if not out.exists():
        raise BrokenError(done.stdout[-3000:])
    return [sum(parts) for parts in json.loads(out.read_text(encoding="utf-8"))]


def _arguments(copy: Copy) -> list[str]:
    return [argument.replace("{work}", str(copy.folder)) for argument in copy.script.arguments]


def _run(command: list[str], copy: Copy, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run a command in a process group of its own, whose processes all end with it."""
    process = subprocess.Popen(
        command,
        cwd=copy.folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        printed, _nothing = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        _end(process)
        printed, _nothing = process.communicate()
        return subprocess.CompletedProcess(command, 1, f"{printed}\nERROR  not done within {SECONDS} seconds")
    _end(process)
    return subprocess.CompletedProcess(command, process.returncode, printed)


def _end(process: subprocess.Popen[str]) -> None:
    """End what a command left behind: workers of loaders, and processes that a script began."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
