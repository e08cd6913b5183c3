"""What larger runs take, and what bfloat16 is better by, by a model, as pages show it.

The model is the engine's (:mod:`counterfoil.audit.values.fleet`), the one of ``counterfoil plan --fleet``. Here it is
written into docs/scale.md and docs/benchmarks.md, and put beside what Gensyn published of OPEN-1B. Nothing is measured.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from benchmarks.measure import Benchmark, Results, Sections
from benchmarks.pages import markdown, paragraphs, tabulated
from benchmarks.plots import Curve, Panel, draw_panels
from counterfoil.audit.values.fleet import EXCHANGE_BYTES, Fleet, FleetRequest, FleetRow, plan_fleet
from counterfoil.audit.values.rates import WAYS, Way, product_seconds, useful_rate, with_products
from counterfoil.audit.values.transformer import STATE_BYTES, Transformer
from counterfoil.base.cards import EFFICIENCY, GPUS
from counterfoil.cli.fleet import amount

GPU = GPUS["H100"]
SIZES = (1e9, 2e9, 4e9, 8e9, 16e9, 32e9, 70e9)
"""Of the picture."""
CONTEXTS = (1024, 4096)
SAMPLES = ((0.9, 100), (0.99, 100), (0.99, 10), (0.999, 10))
"""Confidence, and steps of a segment."""

OPEN_1B_RATE = 50.6e12
"""Operations a second of an H100 that were measured in the run of OPEN-1B (open-transformers,
configs/train/8b_v2_repop_48gpu.yaml), 6 for each parameter and token."""
OPEN_1B_GPUS = 48
OPEN_1B_PARAMETERS = 1.61e9
OPEN_8B_PARAMETERS = 8.03e9
OPEN_BATCHES = ((4e9, 3_145_728), (360e9, 4_718_592), (400_004_481_024, 9_437_184))
"""Up to so many tokens steps have so many (configs/train/1b_repop_v2.yaml)."""
OPEN_MAIN_BATCH = OPEN_BATCHES[1][1]


def open_1b_steps() -> float:
    """Return the steps that OPEN-1B's tokens make in its batches."""
    steps, before = 0.0, 0.0
    for upto, batch in OPEN_BATCHES:
        steps, before = steps + (upto - before) / batch, upto
    return steps


def open_seconds(parameters: float, tokens: float, gpus: int) -> float:
    """Return how long tokens take at OPEN-1B's rate, without attention's operations, as its plan counts."""
    return 6 * parameters * tokens / (gpus * OPEN_1B_RATE)


def checks() -> list[list[str]]:
    """What was published of OPEN-1B, and what the same sums of this model give."""
    step = open_seconds(OPEN_8B_PARAMETERS, OPEN_MAIN_BATCH, OPEN_1B_GPUS)
    days = 55e9 / OPEN_MAIN_BATCH * (step + 13) / 86400
    sent = 2 * EXCHANGE_BYTES[True] * OPEN_8B_PARAMETERS * (OPEN_1B_GPUS - 1) / OPEN_1B_GPUS
    audit = open_seconds(OPEN_1B_PARAMETERS, OPEN_MAIN_BATCH, 1)
    run = open_seconds(OPEN_1B_PARAMETERS, OPEN_BATCHES[-1][0], OPEN_1B_GPUS)
    model = Transformer.of(OPEN_1B_PARAMETERS, 4096)
    ours = useful_rate(GPU, WAYS["exact-13"], model)
    return [
        ["computing of a step, 8.03 B parameters, 4.72 M tokens, 48 H100", "about 94 s", f"{step:.1f} s"],
        ["55 B tokens of it, with its 13 s of exchange a step", "about 14.5 days", f"{days:.1f} days"],
        ["what a device sends for that step", "24.1 GB", f"{sent / 1e9:.0f} GB: integers of 8 bytes, not divided"],
        ["steps of 400 B tokens", "80,957", f"{open_1b_steps():,.0f}"],
        ["stored states, one every 100 steps", "810", f"{open_1b_steps() / 100:.0f}"],
        ["a state, 1.61 B parameters", "18 GB are handed on", f"{STATE_BYTES * OPEN_1B_PARAMETERS / 1e9:.1f} GB"],
        ["a step replayed on one H100", "less than 1 h", f"{audit / 60:.0f} min, of the late batches twice that"],
        ["the whole run on 48 H100", "not found", f"{run / 86400:.1f} days"],
        [
            "operations a second of an H100",
            "50.6 TFLOP/s",
            f"{ours / 1e12:.1f} TFLOP/s for exact-13, by the data sheet",
        ],
    ]


def _table(rows: Sequence[FleetRow], columns: Mapping[str, str | Callable[[FleetRow], object]]) -> str:
    who: dict[str, str | Callable[[FleetRow], object]] = {
        "parameters": lambda row: f"{row.parameters / 1e9:g} B",
        "profile": lambda row: row.profile,
    }
    return tabulated(rows, {**who, **columns})


def recording_table(fleet: Fleet) -> str:
    """Return what recording takes."""
    columns: dict[str, str | Callable[[FleetRow], object]] = {
        "TFLOP/s a device": lambda row: f"{row.rate / 1e12:.3g}",
        "a step": lambda row: f"{row.step_seconds:,.1f} s",
        f"days on {fleet.request.devices}": lambda row: f"{row.record_hours / 24:,.0f}",
        "device-hours": lambda row: f"{row.record_device_hours:,.0f}",
    }
    return _table(fleet.rows, columns)


def storing_table(fleet: Fleet) -> str:
    """Return what storing and auditing takes."""
    columns: dict[str, str | Callable[[FleetRow], object]] = {
        "states": lambda row: amount(row.checkpoint_bytes),
        "logs": lambda row: amount(row.log_bytes),
        "records": lambda row: amount(row.record_bytes),
        "leaves": lambda row: amount(row.leaf_bytes),
        "whole audit": lambda row: f"{row.audit_device_hours:,.0f} h",
        "sample": lambda row: f"{row.sample_device_hours:,.0f} h",
        "to fetch": lambda row: amount(row.sample_bytes),
        "proofs": lambda row: amount(row.proof_bytes),
    }
    return _table([row for row in fleet.rows if row.audited], columns)


def sample_table() -> str:
    """Return what samples cost and prove: a shorter segment makes a cheaper sample, and more states."""
    rows = []
    for confidence, every in SAMPLES:
        fleet = plan_fleet(GPU, FleetRequest(parameters=(8e9,), confidence=confidence, checkpoint_every=every))
        row = next(found for found in fleet.rows if found.profile == "exact-13")
        rows.append(
            [
                f"{confidence:.1%}", f"{every}", f"{row.sample_segments:,} of {fleet.segments:,}",
                f"{row.sample_steps / fleet.steps:.1%}", f"{row.sample_device_hours:,.0f} h",
                amount(row.checkpoint_bytes), amount(row.sample_bytes),
            ]
        )  # fmt: skip
    heads = (
        "confidence", "steps of a segment", "segments", "of all steps", "device-hours", "states stored", "to fetch",
    )  # fmt: skip
    return markdown(heads, rows)


def scale_part() -> str:
    """Return the part of docs/scale.md that the model makes."""
    fleet = plan_fleet(GPU, FleetRequest(parameters=(1e9, 8e9, 70e9)))
    steps = f"{fleet.steps:,} steps and {fleet.segments:,} segments"
    return paragraphs(
        f"{fleet.request.tokens:.0e} tokens in {steps}, on {fleet.request.devices} {GPU.name}.",
        "**Recording**", recording_table(fleet),
        f"**Storing and auditing**; the sample has {fleet.rows[1].sample_segments} segments, and a run with "
        f"{fleet.bad} bad ones\npasses it with probability {fleet.passing:.2g}", storing_table(fleet),
        "**Samples**, 8 B parameters, exact-13, of a run with 1 % of bad segments", sample_table(),
        "What it assumes:", "\n".join(f"{number}. {line}" for number, line in enumerate(fleet.assumptions, 1)),
        "What stands in the way:", "\n".join(f"- {line}" for line in fleet.notes),
    )  # fmt: skip


def price_table() -> str:
    """Return what profiles compute on an H100 beside ordinary bfloat16 training and beside OPEN-1B."""
    ways: list[tuple[str, Way]] = [
        ("bfloat16, ordinary", WAYS["bfloat16"]),
        ("exact-13, four int8 products (today)", WAYS["exact-13"]),
        ("exact-13, were two enough", with_products(WAYS["exact-13"], 2)),
        ("exact-20, nine int8 products (today)", WAYS["exact-20"]),
        ("float64-24", WAYS["float64-24"]),
        ("float32-bfloat16", WAYS["float32-bfloat16"]),
    ]
    models = [Transformer.of(8e9, context) for context in CONTEXTS]
    base = [useful_rate(GPU, WAYS["bfloat16"], model) for model in models]
    rows = []
    for name, way in ways:
        peak = getattr(GPU, way.rate) / way.products
        alone = models[0].flops / product_seconds(GPU, way, models[0])
        rates = [useful_rate(GPU, way, model) for model in models]
        rows.append(
            [
                name, f"{peak / 1e12:.0f}", f"{alone / 1e12:.0f}", *(f"{rate / 1e12:.1f}" for rate in rates),
                " and ".join(f"{ordinary / rate:.1f}" for ordinary, rate in zip(base, rates, strict=True)),
                f"{rates[-1] / OPEN_1B_RATE:.2f}",
            ]
        )  # fmt: skip
    rows.append(["OPEN-1B, measured by Gensyn", "-", "-", "-", f"{OPEN_1B_RATE / 1e12:.1f}", "-", "1.00"])
    heads = [
        "TFLOP/s of an H100", "peak of the products", f"{EFFICIENCY:.0%} of it",
        *(f"with all sweeps, context {context:,}" for context in CONTEXTS), "times bfloat16's time", "of OPEN-1B's",
    ]  # fmt: skip
    return markdown(heads, rows)


def draw(_results: Results, path: Path) -> None:
    """Draw device-hours by parameters, of recording and of auditing a sample."""
    fleet = plan_fleet(GPU, FleetRequest(parameters=SIZES))
    profiles = [name for name, way in WAYS.items() if way.audited]

    def panel(y: str, what: str, names: Sequence[str]) -> Panel:
        points = {
            name: tuple((row.parameters / 1e9, getattr(row, what)) for row in fleet.rows if row.profile == name)
            for name in names
        }
        return Panel("billions of parameters", y, [Curve(name, found) for name, found in points.items()])

    names = [*profiles, *(name for name in WAYS if name not in profiles)]
    recording = panel("device-hours to record", "record_device_hours", names)
    auditing = panel("device-hours to audit the sample", "sample_device_hours", profiles)
    draw_panels([recording, auditing], path)


def sections(_results: Results, _options: Namespace) -> Sections:
    """Return the parts of the pages, of which nothing is measured."""
    return {
        ("scale.md", "fleet"): scale_part(),
        ("scale.md", "open-1b"): markdown(["OPEN-1B", "published", "by this model"], checks()),
        ("benchmarks.md", "h100-model"): price_table(),
    }


FLEET = Benchmark(
    "What larger runs take, and the price of bfloat16, by a model; nothing is measured.",
    lambda _options: [],
    lambda _options, _key: {},
    sections,
    picture=draw,
)
