"""``python -m benchmarks against``: one training, done in every way that can be run here, side by side.

Each way trains the same model from the same weights on the same rows with the same learning rates: ordinary PyTorch in
float32, float64, bfloat16 (autocast) and torch's deterministic mode; Counterfoil's profiles, recorded and replayed; a
port of the paper's published method (:mod:`benchmarks.paper_method`); and of RepDL, where it is installed, the matrix
product. Three parts, whose results are kept in :data:`RESULTS`, so that each can be measured when the machine suits it:

- ``times``: a step in each way, one after the other in each round, divided round by round by that of float32;
- ``bits``: twenty steps in processes of their own, with other instruction sets and another number of threads: does the
  training end in the same weights? An auditor's replay follows the log of the process that recorded;
- ``memory``: the peak of a process that does nothing else.
"""

from __future__ import annotations

import argparse
import json
import pickle
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.accuracy.tasks import adamw
from benchmarks.cross_hardware.replays import SETTINGS
from benchmarks.forms import Forms, peak_memory
from benchmarks.pages import markdown, origin, write_between
from benchmarks.paper_method import Hooks
from benchmarks.plots import Bars, draw_bars
from benchmarks.products import measure_products, product_table
from benchmarks.programs import command, environment
from benchmarks.sessions import audited, key_in
from counterfoil.program.capture import capture
from counterfoil.program.update import Sgd
from counterfoil.training.order import OrderDraft, draft_order
from counterfoil.training.recipes import gpt2
from counterfoil.training.recipes.digits import CLASSES, LEVELS, SIDE, DigitsNet
from counterfoil.training.recorder import record
from counterfoil.training.schedules import cosine, shuffled_epochs
from counterfoil.training.weights import fan_in_uniform
from counterfoil_core.arithmetic.grid.fingerprints import Kernels
from counterfoil_core.arithmetic.machine import Machine, open_machine
from counterfoil_core.arithmetic.profiles import arithmetic_of
from counterfoil_core.base.precision import PROFILES, AnyPrecision, is_exact
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.operators.node import TensorType
from counterfoil_core.order.executable import step_inputs
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.request import AuditRequest
from counterfoil_resources.digits import load_digits

RESULTS = Path(__file__).with_name("against.json")
STEPS = 20
THREADS: Mapping[str, int] = {**dict.fromkeys(SETTINGS, 1), "two threads": 2}
"""Settings of the processes that must give the same bits, with their number of threads."""


@dataclass(frozen=True)
class Case:
    """What is trained."""

    name: str  #: What it is, for the table.
    order: Callable[[AnyPrecision], OrderDraft]  #: Its order in a precision profile.
    model: Callable[[], nn.Module]  #: Its model, whose weights are taken from the order.
    objective: Callable[[nn.Module, Mapping[str, Tensor]], Tensor]  #: The loss of a batch.
    optimizer: Callable[[nn.Module], torch.optim.Optimizer]  #: Its ordinary optimizer.
    clip: float | None = None  #: Largest norm of the gradients, or None.


def _cnn() -> Case:
    """The network of the recipe digits-cnn, without its random shifts."""
    width, batch = 16, 32
    images, labels = load_digits()

    def objective(model: nn.Module, rows: Mapping[str, Tensor]) -> Tensor:
        dtype = next(model.parameters()).dtype
        return functional.cross_entropy(model(rows["images"].to(dtype)[:, None] * (1.0 / LEVELS)), rows["labels"])

    def order(precision: AnyPrecision) -> OrderDraft:
        model, rule = DigitsNet(width), Sgd(momentum=0.9, weight_decay=5e-4)
        fan_in_uniform(model, 0)
        types = {"images": TensorType("uint8", (batch, SIDE, SIDE)), "labels": TensorType("int64", (batch,))}
        return draft_order(
            title="Side by side",
            recipe="benchmark",
            captured=capture(model, objective, rule, types, exact=is_exact(precision)),
            rule=rule,
            learning_rates=cosine(0.1, STEPS),
            schedule=shuffled_epochs(len(images), batch, STEPS, 0),
            data={"images": images, "labels": labels},
            seed=0,
            precision=precision,
        )

    return Case(
        f"digits CNN, width {width}, batch {batch}, {CLASSES} classes",
        order,
        lambda: DigitsNet(width),
        objective,
        lambda model: torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4),
    )


def _gpt(layers: int, width: int, batch: int) -> Case:
    """A GPT-2 without dropout, so that nothing is drawn."""
    size = gpt2.Gpt2Size(layers=layers, heads=4, width=width, context=64, dropout=0.0)
    text = b"Two machines add the same numbers in another order, and get other sums. " * 200

    return Case(
        f"GPT-2, {layers} layers, width {width}, sequence {size.context}, batch {batch}",
        lambda precision: gpt2.order_gpt2(text, size=size, batch_size=batch, steps=STEPS, precision=precision),
        lambda: gpt2.Gpt2(size),
        gpt2.objective,
        adamw,
        clip=1.0,
    )


CASES: Mapping[str, Callable[[], Case]] = {"cnn": _cnn, "gpt2": lambda: _gpt(2, 256, 4)}


@cache
def _draft(key: str, profile: str) -> OrderDraft:
    return CASES[key]().order(PROFILES[profile])


class Way(ABC):
    """One way to train; a step is measured by calling it."""

    log_bits: float = 0.0
    """Size of the log that was written or followed, for each value that was rounded."""

    @abstractmethod
    def __call__(self) -> None:
        """Do the first step, or the next: they take the same time."""


class Ordinary(Way):
    """Ordinary PyTorch.

    Args:
        key: Key of CASES.
        dtype: Of weights and arithmetic.
        autocast: The lower dtype of torch's autocast.
        deterministic: Whether in torch's deterministic mode.
    """

    def __init__(
        self, key: str, dtype: torch.dtype, *, autocast: torch.dtype | None = None, deterministic: bool = False
    ) -> None:
        self._case, self._order = CASES[key](), _draft(key, "float64-24")
        self.model = self._case.model()
        state = self._order.initial
        self.model.load_state_dict({name: torch.from_numpy(state[name].copy()) for name in self.model.state_dict()})
        self.model.to(dtype).train()
        self._optimizer = self._case.optimizer(self.model)
        self._autocast, self._deterministic, self._step = autocast, deterministic, 0

    def __call__(self) -> None:
        row = self._step % STEPS
        order, self._step = self._order, self._step + 1
        inputs = step_inputs(order.manifest, row + 1, {}, order.schedule[row], order.scalars[row], order.data)
        before = torch.are_deterministic_algorithms_enabled()
        torch.use_deterministic_algorithms(self._deterministic)
        try:
            self._train(inputs.batch, inputs.scalars["lr"])
        finally:
            torch.use_deterministic_algorithms(before)

    def _train(self, batch: Mapping[str, Tensor], rate: float) -> None:
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        self._optimizer.zero_grad()
        with nullcontext() if self._autocast is None else torch.autocast("cpu", self._autocast):
            loss = self._case.objective(self.model, batch)
        loss.backward()  # type: ignore[no-untyped-call]
        if self._case.clip is not None:
            nn.utils.clip_grad_norm_(self.model.parameters(), self._case.clip)
        self._optimizer.step()

    def trained(self) -> str:
        """Return the digest of the weights, in the dtype in which they are trained."""
        return _digest(self.model.state_dict())


def _digest(state: Mapping[str, Tensor]) -> str:
    found = sha256()
    for name in sorted(state):
        found.update(f"{name} {state[name].dtype} {tuple(state[name].shape)} ".encode())
        found.update(state[name].detach().contiguous().numpy().tobytes())
    return found.hexdigest()


class Paper(Ordinary):
    """The paper's published method: the trainer's side, or the auditor's, who follows the logs of all steps."""

    def trained(self) -> str:
        """Return the digest of the weights as float32, to which that method commits."""
        state = self.model.state_dict()
        return _digest({name: t.float() if t.is_floating_point() else t for name, t in state.items()})

    def __init__(self, key: str, *, audits: bool = False) -> None:
        super().__init__(key, torch.float64)
        self._hooks = Hooks(self.model)
        self.logs: list[list[bytes]] = []
        self._audits = audits
        self.followed: list[list[bytes]] | None = None

    def __call__(self) -> None:
        if self._audits and self.followed is None:
            # An auditor's step is measured by itself: it follows the log of the same step.
            self._hooks.begin()
            super().__call__()
            self.followed = [self._hooks.log] * STEPS
        self._hooks.begin(self.followed[self._step % STEPS] if self.followed is not None else None)
        super().__call__()
        self.logs.append(self._hooks.log)
        self.log_bits = 8 * sum(map(len, self._hooks.log)) / self._hooks.values


class Ours(Way):
    """Counterfoil under a precision profile.

    Args:
        key: Key of CASES.
        profile: Key of PROFILES.
        machine: Where to compute.
        kernels: Its rounding kernels.
        audits: Whether as an auditor, who follows the log of a recording; else as a trainer, who encodes it.
    """

    def __init__(self, key: str, profile: str, machine: Machine, kernels: Kernels, *, audits: bool = False) -> None:
        self._order = _draft(key, profile)
        self._forms = Forms(self._order, machine, kernels)
        self._record()
        self._audits = audits

    def __call__(self) -> None:
        if self._audits:
            self._forms.replay()
        else:
            self._record()

    def _record(self) -> None:
        self._forms.record()
        log = arithmetic_of(self._order.manifest.precision).encode_log(self._forms.logs)
        self.log_bits = 8 * len(log) / sum(site.elements for site in self._order.program.sites)


ORDINARY: Mapping[str, Callable[[str], Ordinary]] = {
    "float32": lambda key: Ordinary(key, torch.float32),
    "float32, torch's deterministic mode": lambda key: Ordinary(key, torch.float32, deterministic=True),
    "bfloat16 autocast": lambda key: Ordinary(key, torch.float32, autocast=torch.bfloat16),
    "float64": lambda key: Ordinary(key, torch.float64),
}
PAPER = {"the paper's method, trainer": False, "the paper's method, auditor": True}
OURS = {
    f"Counterfoil {profile}, {side}": (profile, audits)
    for profile in ("float64-24", "exact-20", "exact-13")
    for side, audits in (("recorded", False), ("replayed", True))
}
WAYS = (*ORDINARY, *PAPER, *OURS)
BASE = "float32"


def make(name: str, key: str, machine: Machine, kernels: Kernels) -> Way:
    """Make a way ready to train a case."""
    if name in ORDINARY:
        return ORDINARY[name](key)
    if name in PAPER:
        return Paper(key, audits=PAPER[name])
    profile, audits = OURS[name]
    return Ours(key, profile, machine, kernels, audits=audits)


def measure_times(key: str, rounds: int, threads: int) -> dict[str, dict[str, float]]:
    """Time a step in every way; returns seconds, time by that of float32, and bits of the log for each value.

    In each round each way does two steps, of which the second counts: the first brings its own data into the cache. On
    one thread it is processor time, which other programs on the machine disturb less.
    """
    clock = time.process_time if threads == 1 else time.perf_counter
    machine = open_machine("cpu", threads)
    with machine.kernels() as kernels:
        ways = {name: make(name, key, machine, kernels) for name in WAYS}
        times: dict[str, list[float]] = {name: [] for name in ways}
        for number in range(rounds + 2):
            for name, way in ways.items():
                way()
                begun = clock()
                way()
                if number >= 2:
                    times[name].append(clock() - begun)
    return {
        name: {
            "seconds": statistics.median(found),
            "ratio": statistics.median(a / b for a, b in zip(found, times[BASE], strict=True)),
            "bits": ways[name].log_bits,
        }
        for name, found in times.items()
    }


def measure_memory(key: str) -> dict[str, int]:
    """Return the peak memory in bytes of a process that does three steps in one way, for each way."""
    return {name: int(_child("alone", key, name)) for name in WAYS}


def _alone(key: str, name: str) -> None:
    machine = open_machine("cpu", 1)
    with machine.kernels() as kernels:
        way = make(name, key, machine, kernels)
        for _ in range(3):
            way()
    print(peak_memory(machine.device))


def measure_bits(key: str, settings: Sequence[str], folder: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Train in every way under settings; the first setting comes before the others, or has been done in the folder.

    Yields:
        Each setting with the digest of the weights in which each way ended. Of a side that replays: of those in which
        it ended following the log of the first setting.
    """
    place = folder / key
    place.mkdir(parents=True, exist_ok=True)
    for number, setting in enumerate(THREADS):
        if setting in settings:
            yield setting, json.loads(_child("train", key, str(place), str(number), setting=setting))


def equal_to_first(trained: Mapping[str, Mapping[str, str]], name: str) -> dict[str, bool]:
    """Return for each setting but the first whether a way ended in the weights of the first."""
    first, *others = THREADS
    if first not in trained:
        return {}
    return {other: trained[other][name] == trained[first][name] for other in others if other in trained}


def _train(key: str, folder: str, number: str) -> None:
    """Train in every way with this process's libraries, and print the digest of the weights in each as JSON.

    Process 0 keeps its logs and runs in the folder; the others follow them.
    """
    place, first = Path(folder), number == "0"
    threads = list(THREADS.values())[int(number)]
    torch.set_num_threads(threads)
    found = {}
    for name, new in ORDINARY.items():
        way = new(key)
        for _ in range(STEPS):
            way()
        found[name] = way.trained()
    for name, audits in PAPER.items():
        if first and audits:
            found[name] = found[next(iter(PAPER))]
            continue
        paper = Paper(key, audits=audits)
        if audits:
            paper.followed = pickle.loads((place / "paper").read_bytes())
        for _ in range(STEPS):
            paper()
        found[name] = paper.trained()
        if first:
            (place / "paper").write_bytes(pickle.dumps(paper.logs))
    for name, (profile, audits) in OURS.items():
        run, job = place / f"{profile}-{number}.cfoil", place / f"{profile}.cfoil"
        if not audits:
            # Of an earlier attempt.
            run.unlink(missing_ok=True)
            if first:
                job.unlink(missing_ok=True)
                _draft(key, profile).write(job, trial=False)
            for _ in record(job, run, key_in(place, f"{number}.pem"), threads=threads, fresh=True):
                pass
        found[name] = _weights(run) if not audits or first else _audited(place / f"{profile}-0.cfoil", job, threads)
    print(json.dumps(found))


def _weights(run: Path) -> str:
    """Return the state root after the last step of a run."""
    with BundleReader.open(run) as reader:
        return reader.committed_root(STEPS).hex


def _audited(run: Path, job: Path, threads: int) -> str:
    """Return the same of an audit's own replay: the run's, if it is verified; else what was concluded."""
    report = audited(AuditRequest(run, job, threads=threads)).report
    equal = report.outcome is Outcome.VERIFIED and report.steps_replayed == STEPS and not report.mismatched_steps
    return _weights(run) if equal else report.outcome.value


def _child(*arguments: str, setting: str = "as it is") -> str:
    child = command("against", "--child", *arguments)
    # Threads that wait sleep, so that a busy machine is no reason to wait long.
    settings = environment(OMP_WAIT_POLICY="PASSIVE", **SETTINGS.get(setting, {}))
    done = subprocess.run(child, env=settings, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{arguments}: {done.stderr}")
    return done.stdout.strip().splitlines()[-1]


def case_table(key: str, found: Mapping[str, Any]) -> str:
    """Return what is known of a case as Markdown."""
    heads = ["way", "time / float32's", "log, bits per value", "peak memory", "same weights under other settings"]
    rows = []
    times, memory, trained = (found.get(part, {}).get(key, {}) for part in ("times", "memory", "bits"))
    for name in WAYS:
        took = times.get(name)
        equal = equal_to_first(trained, name)
        rows.append(
            [
                name,
                f"{took['ratio']:.2f}" if took else "-",
                f"{took['bits']:.4f}" if took and took["bits"] else "none" if took else "-",
                f"{memory[name] >> 20} MiB" if name in memory else "-",
                _equal(equal) if equal else "-",
            ]
        )
    seconds = f", float32 {1e3 * times[BASE]['seconds']:.1f} ms a step" if times else ""
    return f"**{CASES[key]().name}**{seconds}\n\n{markdown(heads, rows)}"


def _equal(found: Mapping[str, bool]) -> str:
    good = sum(found.values())
    return f"{'**yes**' if good == len(found) else 'no'}, {good} of {len(found)}"


def page(found: Mapping[str, Any]) -> str:
    """Return all results as Markdown."""
    parts = [case_table(key, found) for key in CASES]
    if "products" in found:
        parts.append(product_table(found["products"]))
    measured = "\n".join(f"- {part}: {where}" for part, where in found.get("origins", {}).items())
    return "\n\n".join([*parts, measured])


def plot(found: Mapping[str, Any], path: Path) -> None:
    """Draw the time of each way by that of float32."""
    bars = [
        Bars(CASES[key]().name, {name: found["times"][key][name]["ratio"] for name in WAYS})
        for key in CASES
        if key in found.get("times", {})
    ]
    draw_bars(bars, "time of a step / float32's", path)


def read_results() -> dict[str, Any]:
    """Return what was measured so far."""
    return dict(json.loads(RESULTS.read_text(encoding="utf-8"))) if RESULTS.exists() else {}


def _keep(found: dict[str, Any], part: str, threads: int) -> None:
    found.setdefault("origins", {})[part] = origin(threads if part in ("times", "products") else None)
    RESULTS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


def main(arguments: Sequence[str]) -> None:
    """Measure the parts that were asked for, keep them, and print all that is known."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks against", description=__doc__)
    parser.add_argument("--parts", nargs="*", choices=["times", "products", "bits", "memory"], default=[])
    parser.add_argument("--cases", nargs="*", choices=CASES, default=list(CASES))
    parser.add_argument("--settings", nargs="*", choices=THREADS, default=list(THREADS), help="of bits")
    parser.add_argument("--folder", type=Path, help="where bits keeps runs, so that settings can be done one by one")
    parser.add_argument("--rounds", type=int, default=5, help="rounds after warming up (default 5)")
    parser.add_argument("--threads", type=int, default=1, help="threads on the CPU, of times (default 1)")
    parser.add_argument("--write", type=Path, help="a page whose part is replaced")
    parser.add_argument("--plot", type=Path, help="draw the times into this PNG file")
    parser.add_argument("--child", nargs="*", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        kind, *arguments = options.child
        if kind == "alone":
            _alone(*arguments)
        else:
            _train(*arguments)
        return
    # Of modules that read tokens and images, which have no gradient.
    warnings.filterwarnings("ignore", "Full backward hook is firing")
    found = read_results()
    for part in options.parts:
        if part == "products":
            found[part] = measure_products(options.rounds, options.threads)
        for key in options.cases if part != "products" else ():
            of_case = found.setdefault(part, {}).setdefault(key, {})
            if part == "times":
                of_case |= measure_times(key, options.rounds, options.threads)
            elif part == "memory":
                of_case |= measure_memory(key)
            else:
                with tempfile.TemporaryDirectory() as temporary:
                    for setting, ended in measure_bits(key, options.settings, options.folder or Path(temporary)):
                        of_case[setting] = ended
                        _keep(found, part, options.threads)
            _keep(found, part, options.threads)
            print(f"{part} of {key} is measured", file=sys.stderr, flush=True)
        _keep(found, part, options.threads)
    text = page(found)
    print(text)
    if options.write:
        write_between(options.write, "against", text)
    if options.plot:
        plot(found, options.plot)
