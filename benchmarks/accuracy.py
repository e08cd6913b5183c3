"""``python -m benchmarks.accuracy``: is training on the grid as good as ordinary float32 training?

Both train the same model from the same weights, on the same rows in the same order, with the same learning rates,
augmentation and dropout; what differs is the arithmetic: float64 rounded to p significand bits after every operator,
against eager PyTorch in float32 with ``torch.optim``.
"""

from __future__ import annotations

import argparse
import platform
import statistics
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from counterfoil.benchmark.paper import machine_name
from counterfoil.bundle.precision import Precision
from counterfoil.execution.devices import set_determinism
from counterfoil.execution.interpreter import Draws, Interpreter, StepInputs
from counterfoil.execution.philox import uniform
from counterfoil.program import random
from counterfoil.rounding.rounder import Kernels, RecordingRounder, step_key
from counterfoil.training import augment
from counterfoil.training.datasets import read_images
from counterfoil.training.images import ImageObjective, Normalisation
from counterfoil.training.order import OrderDraft
from counterfoil.training.recipes import digits, gpt2
from counterfoil.training.recipes.resnet import BasicBlock, ResNet, ResNetLayout, order_resnet
from counterfoil_resources.digits import load_digits

SEEDS = 3
PROFILES = (24, 18)
FASHION = Path("/usr/share/datasets/fashion-mnist")
HELD_OUT_DIGITS = 297
LAST_SHARE = 0.1
"""The final loss is the mean over this share of the steps, the last ones."""

PAGE = """\
# Accuracy: training on the grid against ordinary float32 training

{origin}

Model, initial weights, order of the rows, learning rates, augmentation and dropout masks are the same in all rows of a
task; only the arithmetic differs. *Grid, p = 24* computes in float64 and rounds to 24 significand bits after every
operator (the default); *p = 18* rounds harder, as the paper's b = 26. *float32, eager* is ordinary PyTorch with
`torch.optim`.

Numbers are mean ± standard deviation over {seeds} seeds; a seed decides weights, order, augmentation and dropout. The
final loss is the mean of the last {share} % of the steps. The difference is taken seed by seed.

| task | arithmetic | final training loss | score | on held-out data | difference to float32 |
|---|---|---|---|---|---|
{table}

What counts is whether the difference to float32 stays within the spread between seeds, which is the noise of training
itself: float32 rounds too, and in another order on every machine. One of 297 images is 0.34 %, one of 2,000 is 0.05 %.
With so few seeds and steps, harm smaller than the spread would not show; the models could reach more.
"""

Objective = Callable[[nn.Module, Mapping[str, Tensor]], Tensor]


@dataclass(frozen=True)
class Task:
    """One training that is done on the grid and in float32.

    Attributes:
        name: What it is, for the table.
        order: Makes the order for a seed and a precision.
        model: Makes the model, whose weights are taken from the order.
        objective: The loss of a batch.
        optimizer: Makes the ordinary optimizer.
        score: The score on held-out data, given a trained model.
        measure: What the score is.
        clip: Largest norm of the gradients, or None.
    """

    name: str
    order: Callable[[int, Precision], OrderDraft]
    model: Callable[[], nn.Module]
    objective: Objective
    optimizer: Callable[[nn.Module], torch.optim.Optimizer]
    score: Callable[[nn.Module], float]
    measure: str
    clip: float | None = None


@dataclass(frozen=True)
class Trained:
    """What one training gave: final training loss, and score on held-out data."""

    loss: float
    score: float


def _sgd(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=5e-4)


def _accuracy(logits: Callable[[nn.Module, Tensor], Tensor], images: np.ndarray, labels: np.ndarray) -> Callable:
    def score(model: nn.Module) -> float:
        right = 0
        with torch.no_grad():
            for first in range(0, len(images), 500):
                found = logits(model, torch.from_numpy(images[first : first + 500].copy())).argmax(1)
                right += int((found == torch.from_numpy(labels[first : first + 500])).sum())
        return 100.0 * right / len(images)

    return score


def digits_task(steps: int) -> Task:
    """The recipe digits-cnn on 1,500 images, scored on the other 297."""
    images, labels = load_digits()
    train = images[:-HELD_OUT_DIGITS], labels[:-HELD_OUT_DIGITS]
    return Task(
        name=f"digits-cnn, width 16, {steps} steps of 32",
        order=lambda seed, precision: digits.order_digits(*train, steps=steps, seed=seed, precision=precision),
        model=lambda: digits.DigitsNet(16),
        objective=digits.objective,
        optimizer=_sgd,
        score=_accuracy(
            lambda model, x: model(x[:, None].to(torch.float32) * (1.0 / digits.LEVELS)),
            images[-HELD_OUT_DIGITS:],
            labels[-HELD_OUT_DIGITS:],
        ),
        measure="accuracy on 297 held-out images, %",
    )


def gpt_task(path: Path, steps: int) -> Task:
    """A small GPT on the bytes of a file; the last tenth of the file is held out."""
    text = path.read_bytes()
    cut = len(text) * 9 // 10
    size = gpt2.Gpt2Size(layers=2, heads=4, width=64, context=64)
    length = size.context + 1
    rest = np.frombuffer(text[cut:], np.uint8)
    rows = torch.from_numpy(rest[: len(rest) // length * length].reshape(-1, length).copy())

    def optimizer(model: nn.Module) -> torch.optim.Optimizer:
        groups: tuple[list[nn.Parameter], list[nn.Parameter]] = ([], [])
        for parameter in model.parameters():
            groups[parameter.dim() >= 2].append(parameter)
        return torch.optim.AdamW(
            [{"params": groups[0], "weight_decay": 0.0}, {"params": groups[1], "weight_decay": 0.01}], lr=1e-3
        )

    def score(model: nn.Module) -> float:
        with torch.no_grad():
            return gpt2.objective(model, {"tokens": rows}).item()

    return Task(
        name=f"GPT, 2 layers of width 64, on {len(text):,} bytes of {path.name}, {steps} steps of 8 x 64",
        order=lambda seed, precision: gpt2.order_gpt2(
            text[:cut], size=size, batch_size=8, steps=steps, warmup=steps // 10, seed=seed, precision=precision
        ),
        model=lambda: gpt2.Gpt2(size),
        objective=gpt2.objective,
        optimizer=optimizer,
        score=score,
        measure="loss on the held-out last tenth",
        clip=1.0,
    )


def fashion_task(folder: Path, steps: int) -> Task:
    """A residual network with one block for each stage on the first 6,000 images of Fashion-MNIST."""
    train, test = read_images(folder).first(6_000), read_images(folder, test=True).first(2_000)
    layout = ResNetLayout(BasicBlock, (1, 1, 1, 1), 8)
    normalisation = Normalisation.of(train.images[:, None] if train.images.ndim == 3 else train.images)
    return Task(
        name=f"Fashion-MNIST, residual network of 9 layers, width 8, {steps} steps of 32",
        order=lambda seed, precision: order_resnet(
            train.images, train.labels, model=layout, steps=steps, batch_size=32, seed=seed, precision=precision
        ),
        model=lambda: ResNet(layout, 1, 10),
        objective=ImageObjective(normalisation, 4, True),
        optimizer=_sgd,
        score=_accuracy(
            lambda model, x: model(normalisation(x if x.dim() == 4 else x[:, None])), test.images, test.labels
        ),
        measure="accuracy on 2,000 test images, %",
    )


def _inputs(order: OrderDraft, step: int) -> tuple[dict[str, Tensor], dict[str, float]]:
    rows = order.schedule[step - 1]
    scalars = dict(zip(order.manifest.scalar_names, order.scalars[step - 1].tolist(), strict=True))
    return {name: torch.from_numpy(array[rows]) for name, array in order.data.items()}, scalars


def _loaded(task: Task, state: Mapping[str, Tensor]) -> nn.Module:
    model = task.model()
    model.load_state_dict({name: state[name] for name in model.state_dict()})
    return model


def _result(task: Task, model: nn.Module, losses: list[float]) -> Trained:
    last = losses[-max(1, int(len(losses) * LAST_SHARE)) :]
    return Trained(statistics.fmean(last), task.score(model.eval()))


def on_the_grid(task: Task, seed: int, bits: int, kernels: Kernels) -> Trained:
    """Train as ordered: float64 rounded to ``bits`` significand bits after every operator of class rounded."""
    order = task.order(seed, Precision(significand_bits=bits))
    interpreter = Interpreter(order.program, torch.device("cpu"))
    rounder = RecordingRounder(order.program, order.manifest.precision, kernels)
    state: Mapping[str, Tensor] = {name: torch.from_numpy(array) for name, array in order.initial.items()}
    losses = []
    for step in range(1, order.manifest.steps + 1):
        rounder.begin_step(step_key(order.manifest.digest, step))
        batch, scalars = _inputs(order, step)
        result = interpreter.run(StepInputs(state, batch, scalars, Draws(seed, step)), rounder=rounder)
        state = result.state
        losses.append(result.loss)
    return _result(task, _loaded(task, state), losses)


@contextmanager
def drawing(seed: int, step: int) -> Iterator[None]:
    """Let eager training draw the numbers that the ordered step draws."""
    count = iter(range(1_000_000))

    def draw(size: tuple[int, ...]) -> Tensor:
        return uniform(tuple(size), seed=seed, step=step, draw=next(count), dtype=torch.float32, device="cpu")

    places = (augment, random)
    before = [place.uniform for place in places]
    for place in places:
        place.uniform = draw  # type: ignore[attr-defined,assignment]
    try:
        with random.PhiloxDropout():
            yield
    finally:
        for place, old in zip(places, before, strict=True):
            place.uniform = old  # type: ignore[attr-defined,assignment]


def train_in_float32(task: Task, seed: int) -> tuple[nn.Module, list[float]]:
    """Train eagerly in float32; returns the model and the loss of each step."""
    order = task.order(seed, Precision())
    model = _loaded(task, {name: torch.from_numpy(array.copy()) for name, array in order.initial.items()}).train()
    optimizer = task.optimizer(model)
    losses = []
    for step in range(1, order.manifest.steps + 1):
        batch, scalars = _inputs(order, step)
        for group in optimizer.param_groups:
            group["lr"] = scalars["lr"]
        optimizer.zero_grad()
        with drawing(seed, step):
            loss = task.objective(model, batch)
        loss.backward()
        if task.clip is not None:
            nn.utils.clip_grad_norm_(model.parameters(), task.clip)
        optimizer.step()
        losses.append(loss.item())
    return model, losses


def in_float32(task: Task, seed: int) -> Trained:
    """Train eagerly in float32."""
    return _result(task, *train_in_float32(task, seed))


def _spread(values: list[float], digits_after: int) -> str:
    return f"{statistics.fmean(values):.{digits_after}f} ± {statistics.stdev(values):.{digits_after}f}"


def rows_of(task: Task, results: Mapping[str, list[Trained]]) -> list[str]:
    """Return the task's rows of the table; the differences are seed by seed, against float32."""
    reference = results["float32, eager"]
    after = 2 if "%" in task.measure else 4
    lines = []
    for profile, found in results.items():
        losses = _spread([one.loss for one in found], 4)
        scores = _spread([one.score for one in found], after)
        differences = [one.score - other.score for one, other in zip(found, reference, strict=True)]
        by = "-" if found is reference else f"{_spread(differences, after)}"
        lines.append(f"| {task.name} | {profile} | {losses} | {task.measure} | {scores} | {by} |")
    return lines


def page(lines: list[str], command: str, seeds: int) -> str:
    """Return the page as Markdown."""
    today = datetime.now(UTC).date().isoformat()
    origin = (
        f"Measured on {today} by `{command}` on {machine_name('cpu')}; torch {torch.__version__}, Python "
        f"{platform.python_version()}."
    )
    return PAGE.format(origin=origin, seeds=seeds, share=round(100 * LAST_SHARE), table="\n".join(lines))


def main() -> None:
    """Train, print the table, and write the page if asked."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy", description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS, help="trainings of each kind (default 3)")
    parser.add_argument("--steps", type=int, default=300, help="steps of digits and of the GPT (default 300)")
    parser.add_argument("--fashion-steps", type=int, default=200, help="steps on Fashion-MNIST (default 200)")
    parser.add_argument("--profiles", type=int, nargs="+", default=PROFILES, help="significand bits (default 24 18)")
    parser.add_argument("--text", type=Path, help="a text for the GPT; without it there is none")
    parser.add_argument("--fashion", type=Path, default=FASHION, help=f"Fashion-MNIST, if there (default {FASHION})")
    parser.add_argument("--threads", type=int, help="threads on the CPU; all cores by default")
    parser.add_argument("--write", type=Path, help="the page to write")
    options = parser.parse_args()
    tasks = [digits_task(options.steps)]
    if options.text is not None:
        tasks.append(gpt_task(options.text, options.steps))
    if options.fashion.is_dir():
        tasks.append(fashion_task(options.fashion, options.fashion_steps))
    kernels = Kernels(torch.device("cpu"), set_determinism(options.threads))
    lines = []
    for task in tasks:
        results: dict[str, list[Trained]] = {
            "float32, eager": [in_float32(task, seed) for seed in range(options.seeds)]
        }
        for bits in options.profiles:
            results[f"grid, p = {bits}"] = [on_the_grid(task, seed, bits, kernels) for seed in range(options.seeds)]
        lines += rows_of(task, results)
        print("\n".join(lines[-len(results) :]), flush=True)
    kernels.close()
    command = f"python -m benchmarks.accuracy --seeds {options.seeds} --steps {options.steps}"
    if options.text is not None:
        command += f" --text {options.text.name}"
    if options.threads is not None:
        command += f" --threads {options.threads}"
    if options.fashion.is_dir():
        command += f" --fashion-steps {options.fashion_steps}"
    text = page(lines, command, options.seeds)
    if options.write is None:
        print(f"\n{text}")
    else:
        options.write.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
