"""Small orders and runs: models of a few hundred to a few thousand weights, trained for a handful of steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import torch
from benchmarks.imitations import imitated
from msgspec import structs
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional

from counterfoil.audit.hearings import run_audit
from counterfoil.program.capture import CapturedStep, capture
from counterfoil.program.passes import Objective
from counterfoil.program.update import Sgd, UpdateRule
from counterfoil.training import execution
from counterfoil.training.capture import capture_step
from counterfoil.training.division import Division
from counterfoil.training.order import OrderDraft, draft_order
from counterfoil.training.recipes import digits, gpt2
from counterfoil.training.recipes.digits import order_digits
from counterfoil.training.recipes.gpt2 import Gpt2Size, order_gpt2
from counterfoil.training.recorder import record
from counterfoil.training.schedules import shuffled_epochs
from counterfoil.training.weights import fan_in_uniform
from counterfoil_core.arithmetic import machine as machines, selftest
from counterfoil_core.arithmetic.admission import read_program
from counterfoil_core.arithmetic.machine import Machine
from counterfoil_core.arithmetic.profiles import arithmetic_of
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.precision import AnyPrecision, ExactPrecision, Precision, exact_profile
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import StepRecord, run_tree
from counterfoil_core.hearing import session
from counterfoil_core.kernels.exact.philox import uniform
from counterfoil_core.operators.node import TensorType
from counterfoil_core.program.graph import Program
from counterfoil_core.signing.claims import Acceptance, RunClaim, SignedOrder
from counterfoil_core.signing.envelope import sign_statement
from counterfoil_core.signing.keys import SigningKey
from counterfoil_core.signing.kinds import statement_of
from counterfoil_core.signing.statements import open_said, sign_said
from counterfoil_core.values.events import AuditFinished, Event
from counterfoil_core.values.outcome import Check, CheckNumber
from counterfoil_core.values.report import AuditReport
from counterfoil_core.values.request import AuditRequest
from counterfoil_resources.digits import load_digits
from support.bundles import change, opened_for_change
from support.statements import keeps_every_rule

Array = NDArray[Any]
TINY_GPT2 = Gpt2Size(layers=1, heads=2, width=16, context=12)
TEXT = bytes(range(32, 127)) * 8 + b"All work and no play makes a dull trainer. " * 40


def digits_order(**settings: Any) -> OrderDraft:
    """The digits recipe with 4 channels: about 1,500 weights."""
    chosen = {"steps": 6, "batch_size": 8, "width": 4, "checkpoint_every": 2, "seed": 11} | settings
    return _drafted(_digits_draft, **chosen)


def gpt2_order(**settings: Any) -> OrderDraft:
    """The GPT-2 recipe with one layer of width 16: about 8,000 weights, half of them in the tied embedding."""
    chosen = {"size": TINY_GPT2, "steps": 6, "batch_size": 4, "warmup": 2, "checkpoint_every": 2, "seed": 5} | settings
    return _drafted(_gpt2_draft, **chosen)


# A capture takes longer than the recording of its run: each is made once in a process.


def _drafted(draft: Callable[..., OrderDraft], *, precision: AnyPrecision | None = None, **settings: Any) -> OrderDraft:
    """A draft with arrays of its own, so that no test can change another's; its precision is a word in the manifest.

    But for one thing: the steps of exact profiles, and of those by rows, are captured in their own ways.
    """

    def copies(arrays: Mapping[str, Array]) -> dict[str, Array]:
        return {name: array.copy() for name, array in arrays.items()}

    exact = exact_profile(precision)
    made = draft(**settings, precision=exact and replace(exact, bits=20))
    return replace(
        made,
        manifest=replace(made.manifest, precision=precision or Precision()),
        schedule=made.schedule.copy(),
        scalars=made.scalars.copy(),
        data=copies(made.data),
        initial=copies(made.initial),
    )


@cache
def _digits_draft(**settings: Any) -> OrderDraft:
    images, labels = load_digits()
    with replaced(digits, "capture_step", captured_once("digits", settings)):
        return order_digits(images[:200], labels[:200], **settings)


@cache
def _gpt2_draft(**settings: Any) -> OrderDraft:
    with replaced(gpt2, "capture_step", captured_once("gpt2", settings)):
        return order_gpt2(TEXT, **settings)


_NO_OPERATORS = {"steps", "seed", "warmup", "learning_rate", "commit_every", "checkpoint_every"}
"""Settings of these recipes that are data of an order; by the others the operators of a step may differ."""
_CAPTURED: dict[tuple[Any, ...], CapturedStep] = {}


def captured_once(recipe: str, settings: Mapping[str, Any]) -> Callable[..., CapturedStep]:
    """``capture_step``, asked once for the operators of a recipe's step; the first state is each model's own."""
    chosen = sorted(item for item in settings.items() if item[0] not in _NO_OPERATORS)

    def once(
        model: nn.Module,
        objective: Objective,
        rule: UpdateRule,
        batch: Mapping[str, TensorType],
        division: Division,
        *,
        exact: ExactPrecision | None,
    ) -> CapturedStep:
        shapes = tuple((name, tuple(weight.shape)) for name, weight in model.named_parameters())
        key = (recipe, exact and exact.rows, division, *chosen, *sorted(batch.items()), shapes)
        if key not in _CAPTURED:
            _CAPTURED[key] = capture_step(model, objective, rule, batch, division, exact=exact)
        first = _CAPTURED[key]
        parameters = {name: parameter.detach() for name, parameter in model.named_parameters()}
        own = {**parameters, **dict(model.named_buffers()), **rule.slots(parameters)}
        return replace(first, initial_state={**first.initial_state, **own})

    return once


def draw(shape: tuple[int, ...], number: int) -> Array:
    """Reproducible float32 numbers in [-1, 1)."""
    tensor = uniform(shape, seed=7, step=0, draw=number, dtype=torch.float32, device="cpu")
    return (tensor * 2 - 1).numpy()


def types(data: Mapping[str, Array], batch_size: int) -> dict[str, TensorType]:
    """The batch inputs that read these data arrays."""
    return {name: TensorType(array.dtype.name, (batch_size, *array.shape[1:])) for name, array in data.items()}


def own_order(
    model: nn.Module,
    objective: Objective,
    data: Mapping[str, Array],
    *,
    rule: UpdateRule | None = None,
    steps: int = 4,
    batch_size: int = 8,
    learning_rate: float = 0.05,
    seed: int = 3,
    precision: AnyPrecision | None = None,
) -> OrderDraft:
    """An order of a model of one's own, with weights from Philox."""
    rule = rule or Sgd(momentum=0.9)
    fan_in_uniform(model, seed)
    rows = min(len(array) for array in data.values())
    return draft_order(
        title="A model of a test",
        recipe="own",
        captured=capture(model, objective, rule, types(data, batch_size), exact=exact_profile(precision)),
        rule=rule,
        learning_rates=[learning_rate] * steps,
        schedule=shuffled_epochs(rows, batch_size, steps, seed),
        data=data,
        seed=seed,
        checkpoint_every=2,
        precision=precision,
    )


def capture_on(model: nn.Module, *shapes: tuple[int, ...], rule: UpdateRule | None = None) -> CapturedStep:
    """Capture a step of ``model`` on float32 inputs ``x0``, ``x1``, ... with the mean square of its result as loss."""
    return capture(
        model,
        lambda m, batch: m(*(batch[name] for name in sorted(batch))).square().mean(),
        rule or Sgd(),
        {f"x{i}": TensorType("float32", shape) for i, shape in enumerate(shapes)},
    )


def classify(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    """Cross entropy of ``x`` against ``labels``."""
    return functional.cross_entropy(model(batch["x"]), batch["labels"])


@dataclass(frozen=True)
class Job:
    """An order and an honest run of it, as files."""

    order: Path
    run: Path

    @classmethod
    def within(cls, folder: Path) -> Job:
        """The files of a folder, by the names that :func:`record_job` gives them."""
        return cls(folder / "job.cfoil", folder / "run.cfoil")


def record_job(
    folder: Path, draft: OrderDraft, key: SigningKey, client: SigningKey | None = None, **settings: Any
) -> Job:
    """Write an order, without the trial that recording is anyhow, signed if told so, and record a run of it."""
    job = Job.within(folder)
    draft.write(job.order, trial=False, key=client)
    for program in draft.programs.all:
        _hold(program.to_bytes(), draft.manifest.precision)
    record_run(job.order, job.run, key, **settings)
    return job


@lru_cache(maxsize=32)
def _hold(program: bytes, precision: AnyPrecision) -> Program:
    """Keep a program in use, so that recording and the audits of its runs need not read and check it each anew."""
    return read_program(program, precision)


def record_run(order: Path, run: Path, key: SigningKey, *, perturbation: str | None = None, **settings: Any) -> Path:
    """Record a run of an order that is written already, on imitated hardware if told so.

    On one thread unless told otherwise, as threads order sums.
    """
    with self_tests_remembered(execution):
        for _ in record(order, run, key, **({"threads": 1, "machines": imitated(perturbation)} | settings)):
            pass
    return run


_PASSED: dict[tuple[Any, ...], str] = {}
"""What the self-test said, by all that tests change of a machine."""


@contextmanager
def self_tests_remembered(module: Any) -> Iterator[None]:
    """A machine that passed its test passes it again: test_selftest.py asks what fails it, here it is asked once.

    A sixth of what a run of a few steps takes. What a test put in its place stays there.
    """

    def once(machine: Machine, precision: AnyPrecision) -> str:
        given = (machines.native, machines.exactly, machines.Interpreter, selftest.FINGERPRINT)
        if (known := (replace(machine, imitates=None), precision, *given)) not in _PASSED:
            _PASSED[known] = selftest.run_selftest(machine, precision)
        return _PASSED[known]

    if module.run_selftest is not selftest.run_selftest:
        yield
        return
    with replaced(module, "run_selftest", once):
        yield


@dataclass(frozen=True)
class Audited:
    """The report of an audit and the events before it."""

    report: AuditReport
    events: tuple[Event, ...]

    def of(self, kind: type[Any]) -> list[Any]:
        """The events of one kind."""
        return [event for event in self.events if isinstance(event, kind)]

    def check(self, number: CheckNumber) -> Check:
        """One of the ten checks."""
        return self.report.checks[number - 1]


def audited(
    run: Path,
    order: Path | None = None,
    *,
    cancel: CancelToken | None = None,
    perturbation: str | None = None,
    **settings: Any,
) -> Audited:
    """Audit a run to its end, on imitated hardware if told so; on one thread unless told otherwise."""
    request = AuditRequest(run, order, **({"threads": 1} | settings))
    with self_tests_remembered(session):
        events = tuple(run_audit(request, cancel, machines=imitated(perturbation)))
    assert isinstance(events[-1], AuditFinished)
    keeps_every_rule(events[-1].report)
    return Audited(events[-1].report, events)


def sign_again(path: Path, key: SigningKey, **claim: Any) -> None:
    """Sign a run as it now is, as a dishonest trainer would after changing it; ``claim`` replaces fields of it."""
    with BundleReader.open(path) as reader:
        old = open_said(RunClaim, reader.claim())
        root = run_tree(reader.step_records()).root
        signature = reader.order_signature()
        client = None if signature is None else open_said(SignedOrder, signature, order=reader.manifest.digest)
        acceptance = sign_said(Acceptance.of(reader.manifest.digest, client), key)
    new = structs.replace(old, **({"run_root": root, "public_key": key.public.pem} | claim))
    replace_bytes(path, "/run/claim", sign_statement(statement_of(new), key))  # whatever no honest one would sign
    replace_bytes(path, "/run/acceptance", acceptance)


def sign_as_client(path: Path, client: SigningKey, trainer: SigningKey | None = None) -> None:
    """Put a client's signature on the order of a file; ``trainer`` signs the run again, and accepts it so."""
    with BundleReader.open(path) as reader:
        signature = sign_said(SignedOrder(reader.manifest.digest), client)
    put_bytes(path, "/order/signature", signature)
    if trainer is not None:
        sign_again(path, trainer)


def another_order(run: Path) -> Digest:
    """Put another title into the order of a run, which makes it another that nobody signed; returns its digest."""
    with BundleReader.open(run) as reader:
        manifest = replace(reader.manifest, title="Another order")
    put_bytes(run, "/order/manifest", manifest.to_bytes())
    put_bytes(run, "/order/signature", None)
    return manifest.digest


def put_bytes(path: Path, dataset: str, data: bytes | None) -> None:
    """Put a one-dimensional uint8 dataset into a file, in the place of one of that name; None takes it out."""
    with opened_for_change(path) as file:
        if dataset in file:
            del file[dataset]
        if data is not None:
            file.create_dataset(dataset, data=np.frombuffer(data, np.uint8))


def replace_bytes(path: Path, dataset: str, data: bytes) -> None:
    """Put other bytes, of any length, in the place of a one-dimensional uint8 dataset."""
    with opened_for_change(path) as file:
        if file[dataset].shape == (len(data),):
            file[dataset][...] = np.frombuffer(data, np.uint8)
            return
        del file[dataset]
        file.create_dataset(dataset, data=np.frombuffer(data, np.uint8))


def records_of(path: Path) -> list[StepRecord]:
    """The step records of a run."""
    with BundleReader.open(path) as reader:
        return reader.step_records()


def set_row(path: Path, dataset: str, row: int, value: Any) -> None:
    """Replace one row of a dataset."""

    def edit(array: Array) -> Array:
        array[row] = value
        return array

    change(path, dataset, edit)


@contextmanager
def replaced(target: object, name: str, value: Callable[..., Any]) -> Iterator[None]:
    """Put a function in the place of another while the block runs."""
    old = getattr(target, name)
    setattr(target, name, value)
    try:
        yield
    finally:
        setattr(target, name, old)


class _Arithmetic:
    """The arithmetic of a profile with some of its methods in the place of its own."""

    def __init__(self, precision: AnyPrecision, **others: Any) -> None:
        self._own = arithmetic_of(precision)
        self.__dict__.update(others)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)


@contextmanager
def recorded_by(make: Callable[..., Any]) -> Iterator[None]:
    """Let ``make(program, precision, kernels)`` be the trainer's side of a step while the block runs."""

    def arithmetic(precision: AnyPrecision) -> Any:
        return _Arithmetic(precision, recorder=lambda program, kernels: make(program, precision, kernels))

    with replaced(execution, "arithmetic_of", arithmetic):
        yield


@contextmanager
def logged_as(log: bytes, sites: int | None = None, only: int | None = None) -> Iterator[None]:
    """Let the trainer write these bytes as every log while the block runs.

    With ``sites`` as those of so many sites, with ``only`` as the one of this number, from 0 where the block begins.
    """
    written = count()

    def arithmetic(precision: AnyPrecision) -> Any:
        own = arithmetic_of(precision).encode_log

        def encode(logs: Any) -> bytes:
            chosen = only in (None, next(written)) and sites in (None, len(logs))
            return log if chosen else own(logs)

        return _Arithmetic(precision, encode_log=encode)

    with replaced(execution, "arithmetic_of", arithmetic):
        yield
