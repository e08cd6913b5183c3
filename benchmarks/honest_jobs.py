"""Small jobs, to be recorded honestly and replayed on other machines: recipes, a model of one's own, the literature.

The networks that trainings of the literature begin with (the teacher of a distillation, the shallow network that is
stacked) have their first weights here: what a run shows of machines does not hang on how well they were trained.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.every_operator import every_operator
from counterfoil.program.capture import capture
from counterfoil.program.update import AdamW
from counterfoil.training.custom import CustomJob, order_custom
from counterfoil.training.order import OrderDraft, draft_order
from counterfoil.training.recipes.digits import order_digits
from counterfoil.training.recipes.gpt2 import Gpt2Size, order_gpt2
from counterfoil.training.recipes.logistic import order_logistic, synthetic_table
from counterfoil.training.recipes.resnet import BasicBlock, Bottleneck, ResNetLayout, order_resnet
from counterfoil.training.recipes.vgg import VggLayout, order_vgg
from counterfoil.training.schedules import shuffled_epochs
from counterfoil.training.turns import TurnsJob, order_turns
from counterfoil.training.weights import fan_in_uniform
from counterfoil_core.base.precision import PROFILES, AnyPrecision, Precision, exact_profile
from counterfoil_core.operators.node import TensorType
from counterfoil_resources.digits import load_digits

BFLOAT16 = PROFILES["float32-bfloat16"]
CALIBRATED = replace(Precision(), proven=False)
_TEXT = b"Whoever pays for a training may ask what happened in it. " * 60


class Recurrent(nn.Module):
    """A model of one's own: an LSTM over the rows of an image, layer norm, and a classifier with GELU."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(8, 12, batch_first=True)
        self.norm = nn.LayerNorm(12)
        self.hidden = nn.Linear(12, 16)
        self.head = nn.Linear(16, 10)

    def forward(self, images: Tensor) -> Tensor:
        """Map images ``[N, 8, 8]`` to logits ``[N, 10]``."""
        states, _ = self.lstm(images)
        logits: Tensor = self.head(functional.gelu(self.hidden(self.norm(states[:, -1]))))
        return logits


def _recurrent_objective(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    return functional.cross_entropy(model(batch["images"].to(torch.float32) * 0.0625), batch["labels"])


def own_model(steps: int, precision: AnyPrecision | None = None) -> OrderDraft:
    """Order a model that no recipe knows."""
    images, labels = load_digits()
    model, rule = Recurrent(), AdamW()
    fan_in_uniform(model, 3)
    batch = {"images": TensorType("uint8", (16, 8, 8)), "labels": TensorType("int64", (16,))}
    return draft_order(
        title="A recurrent network on the rows of digits",
        recipe="own",
        captured=capture(model, _recurrent_objective, rule, batch, exact=exact_profile(precision)),
        rule=rule,
        learning_rates=[0.01] * steps,
        schedule=shuffled_epochs(400, 16, steps, 3),
        data={"images": images[:400], "labels": labels[:400]},
        seed=3,
        checkpoint_every=4,
        precision=precision,
    )


def _digits(steps: int, precision: AnyPrecision | None = None) -> OrderDraft:
    images, labels = load_digits()
    return order_digits(
        images[:400], labels[:400], steps=steps, batch_size=16, width=8, checkpoint_every=4, precision=precision
    )


def _gpt2(steps: int, precision: AnyPrecision | None = None) -> OrderDraft:
    size = Gpt2Size(layers=2, heads=2, width=32, context=24)
    return order_gpt2(_TEXT, size=size, steps=steps, batch_size=4, warmup=2, checkpoint_every=4, precision=precision)


def _colour_images() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    return rng.integers(0, 256, (64, 3, 16, 16), dtype=np.uint8), np.arange(64, dtype=np.int64) * 7 % 10


def _resnet(steps: int, layout: ResNetLayout, precision: AnyPrecision | None = None) -> OrderDraft:
    images, labels = _colour_images()
    return order_resnet(
        images, labels, model=layout, precision=precision, steps=steps, batch_size=8, checkpoint_every=4
    )


def _vgg(steps: int, precision: AnyPrecision | None = None) -> OrderDraft:
    layout = VggLayout(16, 7, 0.5, ((4,), (8, 8)))
    images, labels = _colour_images()
    return order_vgg(images, labels, layout=layout, precision=precision, steps=steps, batch_size=8, checkpoint_every=4)


def _logistic(steps: int, precision: AnyPrecision | None = None) -> OrderDraft:
    table = synthetic_table(2000, 30, 5)
    return order_logistic(
        table.features, table.labels, steps=steps, batch_size=256, momentum=0.5, checkpoint_every=4, precision=precision
    )


Job = Callable[[int, AnyPrecision | None], OrderDraft]
ORDERS: Mapping[str, Job] = {
    "digits-cnn": _digits,
    "resnet, basic blocks": lambda steps, precision: _resnet(
        steps, ResNetLayout(BasicBlock, (1, 1, 1, 1), 4), precision
    ),
    "resnet, bottlenecks": lambda steps, precision: _resnet(
        steps, ResNetLayout(Bottleneck, (1, 1, 1, 1), 4), precision
    ),
    "vgg11": _vgg,
    "logistic": _logistic,
    "gpt2": _gpt2,
    "own model (LSTM)": own_model,
    "every operator": every_operator,
}
"""How to order each job under either margin, given the number of steps and the precision."""


def _under(job: Job, precision: AnyPrecision | None) -> Callable[[int], OrderDraft]:
    return lambda steps: job(steps, precision)


JOBS: Mapping[str, Callable[[int], OrderDraft]] = {
    **{name: _under(job, None) for name, job in ORDERS.items()},
    **{f"{name}, calibrated margins": _under(job, CALIBRATED) for name, job in ORDERS.items()},
    **{f"{name}, float32-bfloat16": _under(ORDERS[name], BFLOAT16) for name in ("digits-cnn", "gpt2")},
}
"""How to order each job, given the number of steps; margins are proven unless the name says otherwise."""


EXAMPLES = Path(__file__).parents[1] / "examples" / "literature"


@cache
def example(name: str) -> ModuleType:
    """Return a module of the examples, which are no package."""
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None, name
    assert spec.loader is not None, name
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def ordered(job: CustomJob | TurnsJob, precision: AnyPrecision | None = None) -> OrderDraft:
    """Draft the order of a job under a precision profile; the job's own unless given."""
    if precision is not None:
        job = replace(job, precision=precision)
    return order_turns(job) if isinstance(job, TurnsJob) else order_custom(job)


def _beginning(name: str, make: Callable[[ModuleType], CustomJob]) -> CustomJob:
    """A job of a module, whose first weights torch draws."""
    torch.manual_seed(2)
    return make(example(name))


_JOBS: Mapping[str, Callable[[int], CustomJob | TurnsJob]] = {
    "adversarial training (PGD)": lambda steps: example("adversarial").make_job(steps),
    "sharpness-aware minimisation": lambda steps: example("sharpness").make_job(steps),
    "distillation": lambda steps: _beginning(
        "distillation", lambda module: module.make_student(steps, module.perceptron(64))
    ),
    "layers by turns": lambda steps: example("stacking").make_job(steps, min(3, steps)),
    "stacked layer": lambda steps: _beginning(
        "stacking", lambda module: module.make_deep(steps, module.Stack(1).state_dict())
    ),
    "sparse network": lambda steps: example("sparse").make_job(steps),
}


def _drafting(make: Callable[[int], CustomJob | TurnsJob]) -> Job:
    return lambda steps, precision: ordered(make(steps), precision)


LITERATURE: Mapping[str, Job] = {name: _drafting(make) for name, make in _JOBS.items()}
"""How to order each, given the number of steps and the precision."""
