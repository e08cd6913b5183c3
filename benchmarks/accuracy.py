"""Do models learn as well under the precision profiles as in float32?

Every task is trained from each seed under every arithmetic; only the arithmetic differs. Ordered arithmetics interpret
the order's program under a precision profile. Eager ones are ordinary PyTorch with ``torch.optim``, from the same
weights, on the same rows in the same order, with the same learning rates, augmentation and dropout.
"""

from __future__ import annotations

import math
import sys
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from pathlib import Path
from statistics import fmean, stdev

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.measure import ROOT, Benchmark, Cell, Results, Sections, Values, argument, figures, origins, slug
from benchmarks.pages import markdown, paragraphs
from counterfoil.program import philoxdraws
from counterfoil.training import images
from counterfoil.training.datasets import read_images
from counterfoil.training.images import ImageObjective, Normalisation
from counterfoil.training.order import OrderDraft
from counterfoil.training.recipes import digits, gpt2
from counterfoil.training.recipes.resnet import BasicBlock, ResNet, ResNetLayout, order_resnet
from counterfoil_core.arithmetic.beforehand import beforehand
from counterfoil_core.arithmetic.compute.interpreter import StepInputs
from counterfoil_core.arithmetic.grid.fingerprints import step_key
from counterfoil_core.arithmetic.grid.rounder import RecordingRounder
from counterfoil_core.arithmetic.machine import Machine, open_machine
from counterfoil_core.base.precision import PROFILES, AnyPrecision, ExactPrecision, Precision, exact_profile
from counterfoil_core.kernels.exact.philox import uniform
from counterfoil_core.order.executable import step_inputs
from counterfoil_resources.digits import load_digits

FASHION = Path("/usr/share/datasets/fashion-mnist")
HELD_OUT_DIGITS = 297
FASHION_TRAINED, FASHION_HELD_OUT = 6_000, 2_000
TEXT_HELD_OUT = 512
"""Sequences at most."""
LAST_SHARE = 0.1
"""The final loss is the mean over this share of the steps, the last ones."""
_AT_ONCE = 250
"""Examples that a trained model is given at once."""

Objective = Callable[[nn.Module, Mapping[str, Tensor]], Tensor]
Examples = Callable[[nn.Module], Iterator[tuple[Tensor, Tensor]]]
"""Gives logits float32 ``[n, classes]`` and labels int64 ``[n]`` of held-out examples, some at a time."""


# What is trained.


@dataclass(frozen=True)
class Task:
    """One training that is done under every arithmetic."""

    name: str  #: Its short name.
    what: str  #: What is trained, on what, for how long.
    order: Callable[[int, AnyPrecision], OrderDraft]  #: Makes the order for a seed and a precision.
    model: Callable[[], nn.Module]  #: Makes the model, whose weights are taken from the order.
    objective: Objective  #: The loss of a batch.
    optimizer: Callable[[nn.Module], torch.optim.Optimizer]  #: Makes the ordinary optimizer.
    examples: Examples  #: The held-out examples.
    clip: float | None = None  #: Largest norm of the gradients, or None.


def held_out(task: Task, model: nn.Module) -> tuple[float, float]:
    """Return the mean loss of a trained model on the held-out examples, and how many of 100 it gets right.

    The model is computed in float32, whatever it was trained in.
    """
    loss, right, count = 0.0, 0, 0
    with torch.no_grad():
        for logits, labels in task.examples(model.eval()):
            loss += float(functional.cross_entropy(logits.to(torch.float64), labels, reduction="sum"))
            right += int((logits.argmax(1) == labels).sum())
            count += len(labels)
    return loss / count, 100 * right / count


def digits_task(steps: int) -> Task:
    """The recipe digits-cnn on 1,500 images; the other 297 are held out."""
    images, labels = load_digits()
    train, rest = (images[:-HELD_OUT_DIGITS], labels[:-HELD_OUT_DIGITS]), -HELD_OUT_DIGITS
    return Task(
        name="digits-cnn",
        what=f"the recipe of width 16, {len(train[0]):,} images of handwritten digits, {steps} steps of 32; "
        f"{HELD_OUT_DIGITS} images are held out",
        order=lambda seed, precision: digits.order_digits(*train, steps=steps, seed=seed, precision=precision),
        model=lambda: digits.DigitsNet(16),
        objective=digits.objective,
        optimizer=_sgd,
        examples=_images(
            images[rest:], labels[rest:], lambda pixels: pixels[:, None].to(torch.float32) * (1.0 / digits.LEVELS)
        ),
    )


def gpt_task(path: Path, steps: int) -> Task:
    """A small GPT on the bytes of a file; sequences of its last tenth are held out."""
    text = path.read_bytes()
    cut = len(text) * 9 // 10
    size = gpt2.Gpt2Size(layers=2, heads=4, width=64, context=64)
    length = size.context + 1
    rest = np.frombuffer(text[cut:], np.uint8)
    rows = torch.from_numpy(rest[: len(rest) // length * length].reshape(-1, length)[:TEXT_HELD_OUT].astype(np.int64))

    def examples(model: nn.Module) -> Iterator[tuple[Tensor, Tensor]]:
        for some in torch.split(rows, _AT_ONCE):
            yield model(some[:, :-1]).flatten(0, 1), some[:, 1:].flatten()

    return Task(
        name="gpt2",
        what=f"2 layers of width 64 with dropout, {len(text):,} bytes of {path.name}, {steps} steps of 8 x 64; of the "
        f"last tenth {len(rows):,} sequences of 64 are held out",
        order=lambda seed, precision: gpt2.order_gpt2(
            text[:cut], size=size, batch_size=8, steps=steps, warmup=steps // 10, seed=seed, precision=precision
        ),
        model=lambda: gpt2.Gpt2(size),
        objective=gpt2.objective,
        optimizer=adamw,
        examples=examples,
        clip=1.0,
    )


def fashion_task(folder: Path, steps: int) -> Task:
    """A residual network with one block for each stage on the first 6,000 images of Fashion-MNIST."""
    train = read_images(folder).first(FASHION_TRAINED)
    test = read_images(folder, test=True).first(FASHION_HELD_OUT)
    layout = ResNetLayout(BasicBlock, (1, 1, 1, 1), 8)
    normalisation = Normalisation.of(train.images)
    return Task(
        name="fashion-mnist",
        what=f"a residual network of 9 convolutions, width 8, {FASHION_TRAINED:,} images, {steps} steps of 32; "
        f"{FASHION_HELD_OUT:,} test images are held out",
        order=lambda seed, precision: order_resnet(
            train.images, train.labels, model=layout, steps=steps, batch_size=32, seed=seed, precision=precision
        ),
        model=lambda: ResNet(layout, 1, 10),
        objective=ImageObjective(normalisation, 4, True),
        optimizer=_sgd,
        examples=_images(test.images, test.labels, normalisation),
    )


def adamw(model: nn.Module) -> torch.optim.Optimizer:
    """Return the ordinary form of the recipe gpt2's optimizer: only what has two dimensions or more decays."""
    groups: tuple[list[nn.Parameter], list[nn.Parameter]] = ([], [])
    for parameter in model.parameters():
        groups[parameter.dim() >= 2].append(parameter)
    decays = [{"params": group, "weight_decay": decay} for group, decay in zip(groups, (0.0, 0.01), strict=True)]
    return torch.optim.AdamW(decays, lr=1e-3)


def _sgd(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)


def _images(images: np.ndarray, labels: np.ndarray, prepare: Callable[[Tensor], Tensor]) -> Examples:
    pixels, classes = torch.from_numpy(images.copy()), torch.from_numpy(labels.copy())

    def examples(model: nn.Module) -> Iterator[tuple[Tensor, Tensor]]:
        for some, belonging in zip(torch.split(pixels, _AT_ONCE), torch.split(classes, _AT_ONCE), strict=True):
            yield model(prepare(some)), belonging

    return examples


# How it is trained.

Arithmetic = Callable[[Task, int, Machine], tuple[nn.Module, list[float]]]
"""Trains a task from a seed; returns the model and the loss of each step."""


def ordered(precision: AnyPrecision) -> Arithmetic:
    """Return the training of an order as a trainer's machine does it, without what only a recording needs."""

    def train(task: Task, seed: int, machine: Machine) -> tuple[nn.Module, list[float]]:
        order = _drafted(task, seed, exact_profile(precision))
        beforehand(precision).check_program(order.program)
        order = replace(order, manifest=replace(order.manifest, precision=precision))
        interpreter = machine.interpreter(order.program, precision)
        state, losses = _initial(order), []
        with machine.kernels() as kernels:
            # Exact results are not rounded to a grid.
            grid = RecordingRounder(order.program, precision, kernels) if isinstance(precision, Precision) else None
            for step in range(1, order.manifest.steps + 1):
                if grid is not None:
                    grid.begin_step(step_key(order.manifest.digest, step))
                result = interpreter.run(_inputs(order, step, state), rounder=grid)
                state = result.state
                losses.append(result.loss)
        return _loaded(task, state), losses

    return train


def eager(*, autocast: torch.dtype | None = None, ulps: int = 0) -> Arithmetic:
    """Return ordinary PyTorch training in float32.

    Args:
        autocast: The lower dtype in which torch's autocast computes what it holds safe.
        ulps: By how many float32 numbers each initial parameter is moved upwards.
    """

    def train(task: Task, seed: int, _machine: Machine) -> tuple[nn.Module, list[float]]:
        order = _drafted(task, seed, None)
        model = _loaded(task, _initial(order)).train()
        with torch.no_grad():
            for parameter in model.parameters():
                for _ in range(ulps):
                    parameter.copy_(torch.nextafter(parameter, torch.tensor(torch.inf)))
        optimizer, losses = task.optimizer(model), []
        for step in range(1, order.manifest.steps + 1):
            inputs = _inputs(order, step, {})
            for group in optimizer.param_groups:
                group["lr"] = inputs.scalars["lr"]
            optimizer.zero_grad()
            lower = nullcontext() if autocast is None else torch.autocast("cpu", autocast)
            with drawing(seed, step), lower:
                loss = task.objective(model, inputs.batch)
            loss.backward()  # type: ignore[no-untyped-call]
            if task.clip is not None:
                nn.utils.clip_grad_norm_(model.parameters(), task.clip)
            optimizer.step()
            losses.append(loss.item())
        return model, losses

    return train


REFERENCE = "float32"
ARITHMETICS: dict[str, Arithmetic] = {
    REFERENCE: eager(),
    "float32, weights one ulp up": eager(ulps=1),
    "bfloat16 autocast": eager(autocast=torch.bfloat16),
    **{name: ordered(precision) for name, precision in PROFILES.items()},
}
"""The reference, two others that ordinary PyTorch has, and all precision profiles."""
COMPARED = (
    "float32, weights one ulp up", "bfloat16 autocast", "float64-24", "float32-bfloat16", "exact-20", "exact-13",
    "exact-10", "exact-8",
)  # fmt: skip


def _drafted(task: Task, seed: int, exact: ExactPrecision | None) -> OrderDraft:
    return _captured(task, seed, exact and replace(exact, bits=20))


@lru_cache(maxsize=3)
def _captured(task: Task, seed: int, exact: ExactPrecision | None) -> OrderDraft:
    """The order in one of the three ways in which a step is captured: that takes as long as several steps."""
    return task.order(seed, exact or Precision())


def _initial(order: OrderDraft) -> Mapping[str, Tensor]:
    return {name: torch.from_numpy(array.copy()) for name, array in order.initial.items()}


def _inputs(order: OrderDraft, step: int, state: Mapping[str, Tensor]) -> StepInputs:
    return step_inputs(order.manifest, step, state, order.schedule[step - 1], order.scalars[step - 1], order.data)


def _loaded(task: Task, state: Mapping[str, Tensor]) -> nn.Module:
    model = task.model()
    model.load_state_dict({name: state[name] for name in model.state_dict()})
    return model


@contextmanager
def drawing(seed: int, step: int) -> Iterator[None]:
    """Let eager training draw the numbers that the ordered step draws."""
    count = iter(range(1_000_000))

    def draw(size: tuple[int, ...]) -> Tensor:
        return uniform(tuple(size), seed=seed, step=step, draw=next(count), dtype=torch.float32, device="cpu")

    places = (images, philoxdraws)
    before = [place.uniform for place in places]
    for place in places:
        place.uniform = draw  # type: ignore[attr-defined]
    try:
        with philoxdraws.PhiloxDropout():
            yield
    finally:
        for place, old in zip(places, before, strict=True):
            place.uniform = old  # type: ignore[attr-defined]


def train_once(task: Task, arithmetic: str, seed: int, machine: Machine) -> Values:
    """Train, and try what came out: the figures of one cell."""
    model, losses = ARITHMETICS[arithmetic](task, seed, machine)
    loss, accuracy = held_out(task, model)
    final = fmean(losses[-max(1, int(len(losses) * LAST_SHARE)) :])
    said = f"final loss {final:.4f}, held out {loss:.4f} and {accuracy:.2f} %"
    of = {"task": task.name, "what": task.what, "arithmetic": arithmetic, "seed": seed}
    return {**of, "losses": losses, "final": final, "loss": loss, "accuracy": accuracy, "said": said}


# What is shown of it.

HELD_OUT = {"loss": 4, "accuracy": 2}
"""What is compared, with its digits."""
Found = dict[str, dict[str, list[Values]]]
"""By task and arithmetic, the figures in the order of the seeds."""


def by_task(rows: Sequence[Values]) -> Found:
    """Sort what was trained by task and arithmetic; seeds that float32 lacks are left out."""
    found: Found = {}
    for one in sorted(rows, key=lambda one: one["seed"]):
        found.setdefault(one["task"], {}).setdefault(one["arithmetic"], []).append(one)
    return found


def _differences(measure: str, found: Sequence[Values], reference: Sequence[Values]) -> list[float]:
    return [one[measure] - other[measure] for one, other in zip(found, reference, strict=True)]


def table(found: Found) -> str:
    """Return the figures of each task and arithmetic, and their differences to float32, as Markdown."""

    def row(task: str, arithmetic: str, rows: Sequence[Values]) -> list[str]:
        cells = [task, arithmetic, _spread([one["final"] for one in rows], 4)]
        for measure, after in HELD_OUT.items():
            between = _differences(measure, rows, found[task][REFERENCE])
            cells.append(_spread([one[measure] for one in rows], after))
            cells.append("-" if arithmetic == REFERENCE else _difference(between, after))
        return cells

    heads = ["task", "arithmetic", "final training loss", "loss", "difference", "accuracy, %", "difference"]
    return markdown(heads, [row(task, name, rows) for task, by in found.items() for name, rows in by.items()])


@dataclass(frozen=True)
class Share:
    """A mean difference to float32 in parts of the spread between seeds, and the standard error of that mean."""

    task: str
    measure: str
    size: float
    error: float

    def __str__(self) -> str:
        return f"{self.size:+.2f} ± {self.error:.2f} ({self.task})"

    @property
    def is_beyond(self) -> bool:
        """Whether it is larger than the spread, for better or worse."""
        return abs(self.size) > 1


def shares(found: Found, arithmetic: str) -> list[Share]:
    """Return how far an arithmetic is from float32, for each task and measure."""

    def part(size: float, spread: float) -> float:
        return size / spread if spread else math.copysign(math.inf, size) if size else 0.0

    def share(task: str, measure: str) -> Share:
        reference = found[task][REFERENCE]
        between = _differences(measure, found[task][arithmetic], reference)
        spread, error = stdev(one[measure] for one in reference), stdev(between) / math.sqrt(len(between))
        return Share(task, measure, part(fmean(between), spread), part(error, spread))

    return [share(task, measure) for task in found for measure in HELD_OUT]


def summary(found: Found) -> str:
    """Return the largest differences of each arithmetic as Markdown, and what they come down to."""
    compared = [name for name in next(iter(found.values())) if name != REFERENCE]
    rows = []
    within, beyond = list[str](), list[str]()
    for name in compared:
        each = shares(found, name)
        of_measure = [[one for one in each if one.measure == measure] for measure in HELD_OUT]
        larger = [f"{one.measure} of {one.task}" for one in each if one.is_beyond]
        largest = [str(max(those, key=lambda one: abs(one.size))) for those in of_measure]
        rows.append([name, *largest, ", ".join(larger) or "none"])
        (beyond if larger else within).append(f"*{name}*")
    said = [f"No mean difference is larger than the spread under {_listed(within)}."] if within else []
    said += [f"At least one is under {_listed(beyond)}."] if beyond else []
    heads = ["arithmetic", "loss", "accuracy", "mean differences larger than the spread"]
    return paragraphs(markdown(heads, rows), " ".join(said))


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _spread(values: Sequence[float], after: int) -> str:
    return f"{fmean(values):.{after}f} ± {stdev(values):.{after}f}"


def _difference(values: Sequence[float], after: int) -> str:
    """A mean difference and its deviation; in powers of ten where the digits would all be zero."""
    mean, deviation = fmean(values), stdev(values)
    if max(abs(mean), deviation) == 0.0:
        return "0"
    style = f".{after}f" if max(abs(mean), deviation) >= 10.0**-after else ".0e"
    return f"{mean:+{style}} ± {deviation:{style}}"


@cache
def _tasks(digits_steps: int, text: Path, gpt_steps: int, fashion: Path, fashion_steps: int) -> Mapping[str, Task]:
    found = [digits_task(digits_steps)] if digits_steps else []
    found += [gpt_task(text, gpt_steps)] if gpt_steps else []
    if fashion_steps and fashion.is_dir():
        found.append(fashion_task(fashion, fashion_steps))
    elif fashion_steps:
        print(f"There is no Fashion-MNIST in {fashion}: left out.", file=sys.stderr)
    return {task.name: task for task in found}


def _chosen(options: Namespace) -> Mapping[str, Task]:
    return _tasks(options.digits_steps, options.text, options.gpt_steps, options.fashion, options.fashion_steps)


def _cells(options: Namespace) -> list[Cell]:
    """Seed by seed, so that those done so far compare like with like."""
    names = [REFERENCE, *options.arithmetics]
    triples = [(seed, task, name) for seed in range(options.seeds) for task in _chosen(options) for name in names]
    return [Cell(f"{task}/{slug(name)}/{seed}", alone=True) for seed, task, name in triples]


def _measure(options: Namespace, key: str) -> Values:
    task, name, seed = key.split("/")
    arithmetic = next(one for one in ARITHMETICS if slug(one) == name)
    return train_once(_chosen(options)[task], arithmetic, int(seed), open_machine("cpu", options.threads))


def sections(results: Results, _options: Namespace) -> Sections:
    """Return the figures, and what they say, of the seeds of which everything is done; there is no spread of one."""
    found = by_task(list(figures(results).values()))
    seeds = min((len(rows) for by in found.values() for rows in by.values()), default=0)
    if seeds < 2:
        return {("accuracy.md", "measured"): "There is no spread of less than two seeds."}
    found = {task: {name: rows[:seeds] for name, rows in by.items()} for task, by in found.items()}
    what = {one["task"]: one["what"] for one in figures(results).values()}
    tasks = "\n".join(f"- **{name}**: {said}." for name, said in what.items())
    by = f"Measured by `python -m benchmarks accuracy --seeds {seeds}` on {origins(results)}"
    return {
        ("accuracy.md", "tasks"): paragraphs(by, tasks),
        ("accuracy.md", "measured"): table(found),
        ("accuracy.md", "says"): summary(found),
    }


ACCURACY = Benchmark(
    "Train models under the precision profiles and in ordinary float32 and compare them.",
    _cells,
    _measure,
    sections,
    (
        argument("--seeds", type=int, default=5, help="trainings of each kind (default 5)"),
        argument("--digits-steps", type=int, default=200, help="steps on digits, 0 for none (default 200)"),
        argument("--gpt-steps", type=int, default=150, help="steps of the GPT, 0 for none (default 150)"),
        argument("--fashion-steps", type=int, default=200, help="steps on Fashion-MNIST, 0 for none (default 200)"),
        argument("--arithmetics", nargs="+", choices=list(ARITHMETICS)[1:], default=list(COMPARED), metavar="NAME"),
        argument("--text", type=Path, default=ROOT / "LICENSE", help="a text for the GPT (default: the licence)"),
        argument("--fashion", type=Path, default=FASHION, help=f"Fashion-MNIST, if there (default {FASHION})"),
    ),
    out="bench-results/accuracy",
    threads=None,
    about=lambda options: {
        name: str(getattr(options, name)) for name in ("digits_steps", "gpt_steps", "fashion_steps", "text", "threads")
    },
)
