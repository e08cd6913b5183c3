"""One training, done in every way that can be run here, side by side.

Each way trains the same model from the same weights on the same rows with the same learning rates: ordinary PyTorch in
float32, float64, bfloat16 (autocast) and torch's deterministic mode; Counterfoil's profiles, recorded and replayed; a
port of the paper's published method (:mod:`benchmarks.paper_method`); and of RepDL, where it is installed, the matrix
product. Results are kept, so that each part can be measured when the machine suits it:

- ``times``: a step in each way, one after the other in each round, divided round by round by that of float32;
- ``bits``: twenty steps in processes of their own, with other instruction sets and another number of threads: does the
  training end in the same weights? An auditor's replay follows the log of the process that recorded;
- ``memory``: the peak of a process that does nothing else;
- ``products``: matrix products alone.
"""

from __future__ import annotations

import pickle
import time
import warnings
from abc import ABC, abstractmethod
from argparse import Namespace
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from statistics import median

import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.accuracy import adamw
from benchmarks.forms import Forms
from benchmarks.imitations import SETTINGS
from benchmarks.measure import (
    ROOT,
    Benchmark,
    Cell,
    Results,
    Sections,
    Values,
    figures,
    on_page,
    ratio,
    rounds_of,
    some_of,
)
from benchmarks.pages import markdown, paragraphs
from benchmarks.paper_method import Hooks
from benchmarks.plots import Bars, draw_bars
from benchmarks.products import SHAPES, measure_product, product_table, shape_name
from benchmarks.sessions import audit, key_in
from counterfoil.program.update import Sgd
from counterfoil.training.custom import CustomJob, order_custom
from counterfoil.training.order import OrderDraft
from counterfoil.training.recipes import gpt2
from counterfoil.training.recipes.digits import CLASSES, LEVELS, DigitsNet
from counterfoil.training.recorder import record
from counterfoil.training.schedules import cosine
from counterfoil.training.weights import fan_in_uniform
from counterfoil_core.arithmetic.grid.fingerprints import Kernels
from counterfoil_core.arithmetic.machine import Machine, open_machine
from counterfoil_core.arithmetic.profiles import arithmetic_of
from counterfoil_core.base.precision import PROFILES, AnyPrecision
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.order.executable import step_inputs
from counterfoil_core.values.outcome import Outcome
from counterfoil_core.values.request import AuditRequest
from counterfoil_resources.digits import load_digits

RUNS = ROOT / "bench-results" / "against"
STEPS, ROUNDS = 20, 5
PARTS = ("times", "products", "bits", "memory")
THREADS: Mapping[str, int] = {**dict.fromkeys(SETTINGS, 1), "two threads": 2}
"""Settings of the processes that must give the same bits, with their number of threads."""
FIRST = next(iter(THREADS))


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
        job = CustomJob(
            "Side by side", model, objective, rule, {"images": images, "labels": labels}, STEPS, batch_size=batch,
            learning_rate=list(cosine(0.1, STEPS)), precision=precision,
        )  # fmt: skip
        return order_custom(job)

    def optimizer(model: nn.Module) -> torch.optim.Optimizer:
        return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)

    name = f"digits CNN, width {width}, batch {batch}, {CLASSES} classes"
    return Case(name, order, lambda: DigitsNet(width), objective, optimizer)


def _gpt(layers: int, width: int, batch: int) -> Case:
    """A GPT-2 without dropout, so that nothing is drawn."""
    size = gpt2.Gpt2Size(layers=layers, heads=4, width=width, context=64, dropout=0.0)
    text = b"Two machines add the same numbers in another order, and get other sums. " * 200

    def order(precision: AnyPrecision) -> OrderDraft:
        return gpt2.order_gpt2(text, size=size, batch_size=batch, steps=STEPS, precision=precision)

    name = f"GPT-2, {layers} layers, width {width}, sequence {size.context}, batch {batch}"
    return Case(name, order, lambda: gpt2.Gpt2(size), gpt2.objective, adamw, clip=1.0)


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
            for group in self._optimizer.param_groups:
                group["lr"] = inputs.scalars["lr"]
            self._optimizer.zero_grad()
            with nullcontext() if self._autocast is None else torch.autocast("cpu", self._autocast):
                loss = self._case.objective(self.model, inputs.batch)
            loss.backward()  # type: ignore[no-untyped-call]
            if self._case.clip is not None:
                nn.utils.clip_grad_norm_(self.model.parameters(), self._case.clip)
            self._optimizer.step()
        finally:
            torch.use_deterministic_algorithms(before)

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

    def __init__(self, key: str, *, audits: bool = False) -> None:
        super().__init__(key, torch.float64)
        self._hooks, self._audits = Hooks(self.model), audits
        self.logs: list[list[bytes]] = []
        self.followed: list[list[bytes]] | None = None

    def trained(self) -> str:
        """Return the digest of the weights as float32, to which that method commits."""
        state = self.model.state_dict()
        return _digest({name: t.float() if t.is_floating_point() else t for name, t in state.items()})

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
        self._audits = False
        self()
        self._audits = audits

    def __call__(self) -> None:
        if self._audits:
            self._forms.replay()
            return
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


def _times(key: str, threads: int) -> Values:
    """Time a step in every way: seconds, time by that of float32, and bits of the log for each value.

    Of two steps the second counts: the first brings its own data into the cache. On one thread it is processor time,
    which other programs on the machine disturb less.
    """
    machine = open_machine("cpu", threads)
    with machine.kernels() as kernels:
        ways = {name: make(name, key, machine, kernels) for name in WAYS}
        calls = {f"{name} {which}": way for name, way in ways.items() for which in ("first", "second")}
        found = rounds_of(calls, ROUNDS, clock=time.process_time if threads == 1 else time.perf_counter)
    times = {name: found[f"{name} second"] for name in ways}
    return {
        "ways": {
            name: {"seconds": median(times[name]), "ratio": ratio(times, name, BASE), "bits": ways[name].log_bits}
            for name in ways
        }
    }


def _alone(key: str, name: str) -> Values:
    machine = open_machine("cpu", 1)
    with machine.kernels() as kernels:
        way = make(name, key, machine, kernels)
        for _ in range(3):
            way()
    return {}


def _bits(place: Path, key: str, setting: str) -> Values:
    """Train in every way with this process's libraries: the digest of the weights in which each way ended.

    The first setting keeps its logs and runs in a place; the others follow them.
    """
    place.mkdir(parents=True, exist_ok=True)
    first, threads, number = setting == FIRST, THREADS[setting], list(THREADS).index(setting)
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
    return {"weights": found}


def _weights(run: Path) -> str:
    """Return the state root after the last step of a run."""
    with BundleReader.open(run) as reader:
        return reader.committed_root(STEPS).hex


def _audited(run: Path, job: Path, threads: int) -> str:
    """Return the same of an audit's own replay: the run's, if it is verified; else what was concluded."""
    report = audit(AuditRequest(run, job, threads=threads)).report
    equal = report.outcome is Outcome.VERIFIED and report.steps_replayed == STEPS and not report.mismatched_steps
    return _weights(run) if equal else report.outcome.value


def _cells(options: Namespace) -> list[Cell]:
    keys = options.cases or list(CASES)
    # Threads that wait sleep, so that a busy machine is no reason to wait long.
    held = {setting: {"OMP_WAIT_POLICY": "PASSIVE", **SETTINGS.get(setting, {})} for setting in THREADS}
    of_part = {
        "times": [Cell(f"times/{key}", alone=True) for key in keys],
        "products": [Cell(f"products/{shape_name(shape)}", alone=True) for shape in SHAPES],
        "bits": [Cell(f"bits/{key}/{one}", variables=held[one]) for key in keys for one in options.settings or THREADS],
        "memory": [Cell(f"memory/{key}/{name}", fresh=True) for key in keys for name in WAYS],
    }
    return [cell for part in options.parts for cell in of_part[part]]


def _measure(options: Namespace, cell: str) -> Values:
    # Of modules that read tokens and images, which have no gradient.
    warnings.filterwarnings("ignore", "Full backward hook is firing")
    part, key, *rest = cell.split("/")
    if part == "products":
        return {"ratios": measure_product(key, ROUNDS, options.threads)}
    if part == "times":
        return _times(key, options.threads)
    return _bits(RUNS / key, key, *rest) if part == "bits" else _alone(key, *rest)


def case_table(key: str, results: Results) -> str:
    """Return what is known of a case as Markdown."""
    times = figures(results, f"times/{key}").get("", {}).get("ways", {})
    trained = {setting: one["weights"] for setting, one in figures(results, f"bits/{key}/").items()}

    def equal(name: str) -> str:
        others = [ended[name] == trained[FIRST][name] for setting, ended in trained.items() if setting != FIRST]
        good = sum(others)
        return f"{'**yes**' if good == len(others) else 'no'}, {good} of {len(others)}" if others else "-"

    def cells(name: str) -> list[str]:
        took, memory = times.get(name), results.get(f"memory/{key}/{name}")
        bits = f"{took['bits']:.4f}" if took and took["bits"] else "none" if took else "-"
        peak = f"{memory.peak >> 20} MiB" if memory else "-"
        return [name, f"{took['ratio']:.2f}" if took else "-", bits, peak, equal(name)]

    heads = ["way", "time / float32's", "log, bits per value", "peak memory", "same weights under other settings"]
    seconds = f", float32 {1e3 * times[BASE]['seconds']:.1f} ms a step" if times else ""
    return f"**{CASES[key]().name}**{seconds}\n\n{markdown(heads, [cells(name) for name in WAYS])}"


def _sections(results: Results, _options: Namespace) -> Sections:
    products = {shape: one["ratios"] for shape, one in figures(results, "products/").items()}
    places = {key.split("/")[0]: one.origin for key, one in results.items()}
    measured = "\n".join(f"- {part}: {where}" for part, where in places.items())
    tables = paragraphs(*(case_table(key, results) for key in CASES), product_table(products) if products else "")
    return on_page("benchmarks.md", "against", tables, measured)


def draw(results: Results, path: Path) -> None:
    """Draw the time of each way by that of float32."""
    found = figures(results, "times/")
    bars = [
        Bars(CASES[key]().name, {name: found[key]["ways"][name]["ratio"] for name in WAYS})
        for key in CASES
        if key in found
    ]
    draw_bars(bars, "time of a step / float32's", path)


AGAINST = Benchmark(
    "One training in every way that can be run here: time, memory, and whether other settings end in the same weights.",
    _cells,
    _measure,
    _sections,
    (some_of("--parts", PARTS), some_of("--cases", CASES), some_of("--settings", THREADS)),
    out="benchmarks/measured/against",
    picture=draw,
)
