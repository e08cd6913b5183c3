"""Every update rule against torch.optim, in float64 and without rounding, over several steps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from counterfoil.program.capture import capture
from counterfoil.program.update import (
    Adagrad,
    Adam,
    AdamW,
    ClipByNorm,
    ClipByValue,
    Lion,
    ParameterGroup,
    ParameterGroups,
    RmsProp,
    Sgd,
    UpdateRule,
    WeightAverage,
)
from counterfoil_core.arithmetic.compute import interpreter
from counterfoil_core.arithmetic.compute.interpreter import Draws, Interpreter, StepInputs
from counterfoil_core.base.errors import DataError
from counterfoil_core.operators.facts import OperatorClass
from counterfoil_core.operators.node import TensorType
from support.jobs import draw

BATCH, STEPS = 12, 6
RATES = [0.03 * (1 - step / 8) for step in range(STEPS)]
BATCHES = [torch.from_numpy(draw((BATCH, 5), 20 + step)) for step in range(STEPS)]
TARGETS = [torch.from_numpy(draw((BATCH, 3), 40 + step)) for step in range(STEPS)]
TOLERANCE = 1e-12

Optimize = Callable[[Iterable[Tensor]], torch.optim.Optimizer]
State = dict[str, Tensor]


def network() -> nn.Module:
    model = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.LayerNorm(7), nn.Linear(7, 3))
    with torch.no_grad():
        for number, parameter in enumerate(model.parameters()):
            parameter.copy_(torch.from_numpy(draw(tuple(parameter.shape), number)) + 0.05)
    return model


def objective(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    return functional.mse_loss(model(batch["x"]), batch["y"]) * 4.0


class Reference:
    """torch's own training loop."""

    def __init__(self, optimize: Callable[[nn.Module], torch.optim.Optimizer]) -> None:
        self.model = network().double()
        self.optimizer = optimize(self.model)
        self.parts = 1
        self.clip: Callable[[], object] = lambda: None
        self.after: Callable[[], object] = lambda: None
        self.factors = [1.0] * len(self.optimizer.param_groups)
        self.losses: list[float] = []

    def run(self) -> State:
        for step in range(STEPS):
            for group, factor in zip(self.optimizer.param_groups, self.factors, strict=True):
                group["lr"] = RATES[step] * factor
            self.optimizer.zero_grad()
            losses = []
            x, y = BATCHES[step].double(), TARGETS[step].double()
            for one, other in zip(x.chunk(self.parts), y.chunk(self.parts), strict=True):
                loss = objective(self.model, {"x": one, "y": other})
                (loss / self.parts).backward()
                losses.append(loss.item())
            self.losses.append(sum(losses) / self.parts)
            self.clip()
            self.optimizer.step()
            self.after()
        return {name: p.detach() for name, p in self.model.named_parameters()}


@cache
def trained(rule: UpdateRule, parts: int = 1) -> tuple[State, list[float]]:
    """The captured program, run with a state that stays float64, unlike that of a recorded step."""
    types = {"x": TensorType("float32", (BATCH, 5)), "y": TensorType("float32", (BATCH, 3))}
    captured = capture(network(), objective, rule, types, micro_batches=parts)
    runner = Interpreter(captured.program, torch.device("cpu"))
    state: Mapping[str, Tensor] = {name: tensor.double() for name, tensor in captured.initial_state.items()}
    losses = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interpreter, "stored_tensor", lambda tensor, described: tensor)
        for step in range(STEPS):
            scalars = dict(zip(rule.scalar_names, rule.scalars(step + 1, RATES[step]), strict=True))
            batch = {"x": BATCHES[step], "y": TARGETS[step]}
            result = runner.run(StepInputs(state, batch, scalars, Draws(0, step + 1)))
            state, losses = result.state, [*losses, result.loss]
    return dict(state), losses


def difference(found: State, expected: State) -> float:
    """Largest difference over all tensors, relative to the largest element of each."""
    return max(float((found[n] - t).abs().max() / t.abs().max()) for n, t in expected.items())


class ReferenceLion(torch.optim.Optimizer):
    """Algorithm 2 of Chen et al. 2023, line by line."""

    def __init__(self, params: Iterable[Tensor], betas: tuple[float, float], weight_decay: float) -> None:
        super().__init__(params, {"lr": 0.0, "betas": betas, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self) -> None:
        for group in self.param_groups:
            for p in group["params"]:
                m = self.state[p].setdefault("m", torch.zeros_like(p))
                c = group["betas"][0] * m + (1 - group["betas"][0]) * p.grad
                p -= group["lr"] * (torch.sign(c) + group["weight_decay"] * p)
                m.copy_(group["betas"][1] * m + (1 - group["betas"][1]) * p.grad)


@dataclass(frozen=True)
class Case:
    rule: UpdateRule
    optimize: Optimize


CASES = {
    "sgd": Case(Sgd(), lambda p: torch.optim.SGD(p)),
    "sgd, momentum": Case(
        Sgd(momentum=0.9, weight_decay=0.05), lambda p: torch.optim.SGD(p, momentum=0.9, weight_decay=0.05)
    ),
    "sgd, Nesterov": Case(
        Sgd(momentum=0.8, weight_decay=0.05, nesterov=True),
        lambda p: torch.optim.SGD(p, momentum=0.8, weight_decay=0.05, nesterov=True),
    ),
    "adam": Case(Adam(), lambda p: torch.optim.Adam(p)),
    "adam, weight decay": Case(
        Adam((0.8, 0.95), 1e-6, 0.1), lambda p: torch.optim.Adam(p, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.1)
    ),
    "adamw": Case(AdamW(weight_decay=0.2), lambda p: torch.optim.AdamW(p, weight_decay=0.2)),
    "adagrad": Case(Adagrad(), lambda p: torch.optim.Adagrad(p)),
    "adagrad, all settings": Case(
        Adagrad(0.1, 0.05, 0.25, 1e-6),
        lambda p: torch.optim.Adagrad(p, lr_decay=0.1, weight_decay=0.05, initial_accumulator_value=0.25, eps=1e-6),
    ),
    "rmsprop": Case(RmsProp(), lambda p: torch.optim.RMSprop(p)),
    "rmsprop, momentum": Case(
        RmsProp(alpha=0.9, momentum=0.7, weight_decay=0.05),
        lambda p: torch.optim.RMSprop(p, alpha=0.9, momentum=0.7, weight_decay=0.05),
    ),
    "rmsprop, centered": Case(
        RmsProp(alpha=0.9, centered=True, eps=1e-4),
        lambda p: torch.optim.RMSprop(p, alpha=0.9, centered=True, eps=1e-4),
    ),
    "rmsprop, centered, momentum": Case(
        RmsProp(alpha=0.9, centered=True, momentum=0.7),
        lambda p: torch.optim.RMSprop(p, alpha=0.9, centered=True, momentum=0.7),
    ),
    "lion": Case(Lion(), lambda p: ReferenceLion(p, (0.9, 0.99), 0.0)),
    "lion, weight decay": Case(Lion((0.8, 0.95), 0.3), lambda p: ReferenceLion(p, (0.8, 0.95), 0.3)),
}


@pytest.mark.parametrize("name", CASES)
def test_a_rule_is_the_optimizer_of_its_name(name):
    case = CASES[name]
    expected = Reference(lambda model: case.optimize(model.parameters())).run()
    found, _ = trained(case.rule)
    assert difference(found, expected) < TOLERANCE


def test_control_no_two_rules_are_the_same():
    results = [Reference(lambda model, case=case: case.optimize(model.parameters())).run() for case in CASES.values()]
    for index, one in enumerate(results):
        for other in results[index + 1 :]:
            assert difference(one, other) > 1e-6


@pytest.mark.parametrize("limit", [0.5, 1e6], ids=["clips", "leaves alone"])
def test_clipping_by_norm(limit):
    reference = Reference(lambda model: torch.optim.Adagrad(model.parameters()))
    norms = []
    reference.clip = lambda: norms.append(nn.utils.clip_grad_norm_(reference.model.parameters(), limit))
    expected = reference.run()
    assert all((norm > limit) == (limit < 1) for norm in norms)
    assert difference(trained(ClipByNorm(Adagrad(), limit))[0], expected) < TOLERANCE
    same = difference(trained(Adagrad())[0], expected) < TOLERANCE
    assert same == (limit > 1)


def test_the_setting_of_sgd_and_adamw_is_the_wrapper():
    for rule in (Sgd(momentum=0.9), AdamW()):
        setting = type(rule)(**{**rule.__dict__, "clip_norm": 0.5})
        wrapped = ClipByNorm(rule, 0.5)
        assert difference(trained(setting)[0], trained(wrapped)[0]) == 0.0
        assert setting.describe() == wrapped.describe()


def test_clipping_by_value():
    reference = Reference(lambda model: torch.optim.SGD(model.parameters(), momentum=0.9))
    reference.clip = lambda: nn.utils.clip_grad_value_(reference.model.parameters(), 0.05)
    expected = reference.run()
    assert difference(trained(ClipByValue(Sgd(momentum=0.9), 0.05))[0], expected) < TOLERANCE
    assert difference(trained(Sgd(momentum=0.9))[0], expected) > 1e-3


def test_parameter_groups():
    """Biases and norms without decay, the last layer with a tenth of the learning rate."""

    def optimize(model: nn.Module) -> torch.optim.Optimizer:
        named = dict(model.named_parameters())
        head = [named.pop("3.weight")]
        flat = [p for p in named.values() if p.dim() < 2]
        rest = [p for p in named.values() if p.dim() >= 2]
        groups = [
            {"params": head, "weight_decay": 0.3},
            {"params": flat, "weight_decay": 0.0},
            {"params": rest, "weight_decay": 0.1},
        ]
        return torch.optim.AdamW(groups)

    reference = Reference(optimize)
    reference.factors = [0.1, 1.0, 1.0]
    expected = reference.run()
    flat = frozenset(name for name, p in network().named_parameters() if p.dim() < 2)
    rule = ParameterGroups(
        (
            ParameterGroup("head", "3.w*", AdamW(weight_decay=0.3), lr_factor=0.1),
            ParameterGroup("flat", flat.__contains__, AdamW(weight_decay=0.0)),
            ParameterGroup("rest", "*", AdamW(weight_decay=0.1)),
        )
    )
    assert rule.scalar_names[:3] == ("head:lr", "head:step_size", "head:root_correction")
    assert difference(trained(rule)[0], expected) < TOLERANCE
    assert difference(trained(AdamW(weight_decay=0.1))[0], expected) > 1e-3


def test_groups_may_have_rules_of_different_kinds():
    rule = ParameterGroups((ParameterGroup("first", "0.*", Lion()), ParameterGroup("rest", "*", Sgd(momentum=0.9))))
    found, _ = trained(rule)
    assert {name.split(":")[0] for name in found if ":" in name} == {"momentum"}
    assert "learning rate" not in rule.describe()


@pytest.mark.parametrize("parts", [2, 3])
def test_accumulation_over_micro_batches(parts):
    reference = Reference(lambda model: torch.optim.SGD(model.parameters(), momentum=0.9))
    reference.parts = parts
    expected = reference.run()
    found, losses = trained(Sgd(momentum=0.9), parts)
    assert difference(found, expected) < TOLERANCE
    assert losses == pytest.approx(reference.losses, rel=TOLERANCE)


def test_accumulation_adds_exactly_as_torch_does():
    """With two parts the factor 1/2 is exact, so a single step gives torch's own bits."""
    model = nn.Linear(5, 3)
    types = {"x": TensorType("float32", (4, 5))}
    captured = capture(model, lambda m, b: m(b["x"]).square().sum(), Sgd(), types, micro_batches=2)
    inputs = StepInputs(captured.initial_state, {"x": BATCHES[0][:4]}, {"lr": 1.0}, Draws(0, 1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(interpreter, "stored_tensor", lambda tensor, described: tensor)
        state = Interpreter(captured.program, torch.device("cpu")).run(inputs).state
    model.double()
    for half in BATCHES[0][:4].double().chunk(2):
        (model(half).square().sum() / 2).backward()
    for name, parameter in model.named_parameters():
        assert torch.equal(state[name], parameter.detach() - parameter.grad)


def test_buffers_pass_from_one_micro_batch_to_the_next():
    model = nn.Sequential(nn.Linear(5, 4), nn.BatchNorm1d(4))
    types = {"x": TensorType("float32", (6, 5))}
    captured = capture(model, lambda m, b: m(b["x"])[:, 0].square().mean(), Sgd(), types, micro_batches=3)
    inputs = StepInputs(captured.initial_state, {"x": BATCHES[0][:6]}, {"lr": 0.0}, Draws(0, 1))
    state = Interpreter(captured.program, torch.device("cpu")).run(inputs).state
    assert int(state["1.num_batches_tracked"]) == 3
    model.double()
    for part in BATCHES[0][:6].double().chunk(3):
        model(part)
    torch.testing.assert_close(state["1.running_mean"], model[1].running_mean.float(), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("parts", [0, 5, 24])
def test_a_batch_that_cannot_be_split(parts):
    with pytest.raises(DataError, match=f"into {parts} equal parts"):
        trained(Sgd(), parts)


def test_average_of_the_weights():
    reference = Reference(lambda model: torch.optim.RMSprop(model.parameters()))
    averaged = AveragedModel(reference.model, multi_avg_fn=get_ema_multi_avg_fn(0.9))
    averaged.update_parameters(reference.model)  # the first call copies: here the initial weights
    reference.after = lambda: averaged.update_parameters(reference.model)
    expected = reference.run()
    found, _ = trained(WeightAverage(RmsProp(), 0.9))
    assert difference(found, expected) < TOLERANCE
    averages = {f"average:{name}": p.detach() for name, p in averaged.module.named_parameters()}
    assert difference(found, averages) < TOLERANCE
    assert difference({f"average:{n}": t for n, t in expected.items()}, averages) > 1e-3


def test_everything_together():
    groups = ParameterGroups(
        (ParameterGroup("norm", "2.*", Adam(), 0.5), ParameterGroup("rest", "*", Adam(weight_decay=0.1)))
    )
    rule = WeightAverage(ClipByValue(ClipByNorm(groups, 1.0), 0.2), 0.5)
    found, _ = trained(rule, 3)

    def optimize(model: nn.Module) -> torch.optim.Optimizer:
        norm, rest = list(model[2].parameters()), [*model[0].parameters(), *model[3].parameters()]
        return torch.optim.Adam([{"params": norm}, {"params": rest, "weight_decay": 0.1}])

    reference = Reference(optimize)
    reference.factors, reference.parts = [0.5, 1.0], 3

    def clip() -> None:
        nn.utils.clip_grad_value_(reference.model.parameters(), 0.2)
        nn.utils.clip_grad_norm_(reference.model.parameters(), 1.0)

    reference.clip = clip
    assert difference(found, reference.run()) < TOLERANCE
    assert rule.describe() == (
        "norm: Adam, betas 0.9 and 0.999, epsilon 1e-08, weight decay 0, learning rate times 0.5; "
        "rest: Adam, betas 0.9 and 0.999, epsilon 1e-08, weight decay 0.1, "
        "gradients clipped to norm 1, gradients clipped to +-0.2, average of the weights with decay 0.5"
    )


@pytest.mark.parametrize(
    ("rule", "rounded"),
    [
        (Sgd(momentum=0.9, nesterov=True, weight_decay=0.1), set()),
        (Lion(weight_decay=0.1), set()),
        (WeightAverage(ClipByValue(Sgd(), 0.1), 0.9), set()),
        (Adam(weight_decay=0.1), {"sqrt", "div"}),
        (Adagrad(lr_decay=0.1), {"sqrt", "div"}),
        (RmsProp(centered=True, momentum=0.9), {"sqrt", "div"}),
        (ClipByNorm(Sgd(), 1.0), {"linalg_vector_norm", "reciprocal"}),
    ],
    ids=lambda value: value.describe() if hasattr(value, "describe") else "",
)
def test_updates_round_no_more_than_they_must(rule, rounded):
    types = {"x": TensorType("float32", (BATCH, 5)), "y": TensorType("float32", (BATCH, 3))}
    program = capture(network(), objective, rule, types).program
    update = [node for node in program.nodes if node.phase == "update"]
    assert {n.entry.kind for n in update if n.entry.operator_class is OperatorClass.ROUNDED} == rounded


def test_a_centered_mean_square_below_zero_by_rounding_is_zero():
    rule = RmsProp(centered=True)
    one = torch.ones(3, dtype=torch.float64)
    slots = {"square": one * (1 - 2.0**-24), "mean": one}
    new, _ = rule.update_one(one, one, slots, {"lr": torch.tensor(1e-9, dtype=torch.float64)})
    assert bool(torch.isfinite(new).all())


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Sgd(momentum=-0.1), "momentum is -0.1"),
        (lambda: Sgd(nesterov=True), "Nesterov's step needs a momentum"),
        (lambda: Sgd(weight_decay=float("nan")), "weight decay is nan"),
        (lambda: Adam(betas=(1.0, 0.9)), "first beta is 1"),
        (lambda: AdamW(betas=(0.9, 1.5)), "second beta is 1.5"),
        (lambda: Adagrad(initial_accumulator_value=-1.0), "initial sum of squares is -1"),
        (lambda: RmsProp(alpha=1.0), "alpha is 1"),
        (lambda: Lion(weight_decay=float("inf")), "weight decay is inf"),
        (lambda: ClipByNorm(Sgd(), 0.0), "largest norm of the gradients is 0"),
        (lambda: ClipByValue(Sgd(), -1.0), "largest element of the gradients is -1"),
        (lambda: WeightAverage(Sgd(), 1.0), "decay of the weights' average is 1"),
        (lambda: ParameterGroup("a b", "*", Sgd()), "'a b'"),
        (lambda: ParameterGroup("a", "*", Sgd(), -1.0), "group 'a' is -1"),
        (lambda: ParameterGroups((ParameterGroup("a", "*", Sgd()), ParameterGroup("a", "*", Sgd()))), "same name"),
        (lambda: trained(ParameterGroups((ParameterGroup("a", "0.*", Sgd()),))), "'2.weight' belongs to no"),
        (
            lambda: trained(ParameterGroups((ParameterGroup("a", "*", Sgd()), ParameterGroup("b", "0.*", Sgd())))),
            "No parameter belongs to the parameter group 'b'",
        ),
    ],
)
def test_settings_that_cannot_be(make, words):
    with pytest.raises(DataError) as caught:
        make()
    assert words in str(caught.value)
