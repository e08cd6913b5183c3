"""The sections of two pages on a GPU, from the results alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.cross_pages import CampaignRows, is_exact, machine_table, pair_section, summary, surprises
from benchmarks.measure import Ended, Results, Sections, Values, figures, origins
from benchmarks.pages import duration, markdown, one_line, paragraphs, size, tabulated
from benchmarks.replays import accusation_summary, accusation_table
from counterfoil_core.base.errors import DataError

ORDER = ("eager float32", "eager float64", "eager bfloat16", "eager TensorFloat-32", "unrounded float64")
"""Of the forms of a step; others follow."""
_REHEARSAL = (
    "**This is no GPU.** The device was the CPU, as a rehearsal of the command: what follows shows that its parts "
    "work, and says nothing of a GPU."
)


def sections(results: Results, about: Mapping[str, str], rows: Sequence[Values], writes: bool) -> Sections:
    """Return the section on what is equal, and that on what it costs.

    Raises:
        DataError: Nothing was measured; or pages are to be written of a CPU.
    """
    if not about:
        raise DataError("There are no results there.", remedy="Measure first, without --minutes 0.")
    if writes and about["device"] == "cpu":
        raise DataError(
            f"These are results of a CPU ({about['title']}): no page on GPUs is written from them.",
            remedy="Measure on a GPU with --device cuda:0; without --write they are printed.",
        )
    parts = {
        part: figures(results, f"{part}/")
        for part in ("environment", "crossing", "steps", "larger", "accusations", "tests")
    }
    tuned = figures(results, "fine-tuning/").get("example")
    equal = (
        _heading(results, about, "On a GPU"), _crossed(rows), _golden(parts["crossing"]),
        _larger(list(parts["larger"].values())), _accusations(parts["accusations"]), _tests(parts["tests"]),
        _undone(results),
    )  # fmt: skip
    costs = (
        _heading(results, about, "On a GPU: what a step costs"), *map(_rates, parts["environment"].values()),
        _steps(list(parts["steps"].values())), _fine_tuning(tuned) if tuned else "",
    )  # fmt: skip
    return {("cross-hardware.md", "gpu"): paragraphs(*equal), ("benchmarks.md", "gpu"): paragraphs(*costs)}


def _heading(results: Results, about: Mapping[str, str], title: str) -> str:
    """A heading, on what, with what and when; and that it is no GPU where it is none."""
    where = f"{about['title']} beside {about['host']} (scale {about['scale']}). {origins(results)}"
    return paragraphs(f"## {title}", where, _REHEARSAL if about["device"] == "cpu" else "")


# What is equal, and who is accused.


def _crossed(rows: Sequence[Values]) -> str:
    found = CampaignRows.of(rows)
    if not found.machines:
        return ""
    pairs = [pair_section(found, pair) for pair in found.pairs]
    return paragraphs(machine_table(found), *pairs, summary(found, surprises(found)) if found.replayed else "")


def _golden(crossing: Mapping[str, Values]) -> str:
    rows = [{"name": key.removeprefix("golden-"), **one} for key, one in crossing.items() if key.startswith("golden-")]
    columns: dict[str, str | Callable[[Values], object]] = {
        "golden run": "{name}",
        "recorded on a CPU, replayed on the device": "{there[outcome]}, {there[corrections]} corrections",
        "run root recorded on the device": lambda one: "the golden one" if one["equal"] else "another",
        "replayed on the CPU": "{back[outcome]}, {back[corrections]} corrections",
    }
    return paragraphs("The golden runs of the tests:", tabulated(rows, columns)) if rows else ""


def _larger(rows: Sequence[Values]) -> str:
    def yes(value: bool) -> str:
        return "yes" if value else "**NO**"

    def recorded(one: Values) -> str:
        # Two machines may round a value differently, and each logs it.
        return yes(one["recorded_equal"]) if is_exact(one["profile"]) else "yes" if one["recorded_equal"] else "no"

    def control(equal: bool | None) -> str:
        return "-" if equal is None else "equals" if equal else "differs"

    def ways(of: Callable[[Mapping[str, Any]], str]) -> Callable[[Values], str]:
        return lambda one: " / ".join(of(one[way]) for way in ("there", "back"))

    columns: dict[str, str | Callable[[Values], object]] = {
        "step": "{name}",
        "profile": "{profile}",
        "values rounded": lambda one: f"{one['values']:,}" if one["values"] else "-",
        "both record the same": recorded,
        "replay equals the recording": ways(lambda way: yes(way["equal"])),
        "corrections of entries": ways(lambda way: f"{way['corrections']:,} of {way['entries']:,}"),
        "the log taken away": ways(lambda way: control(way["without_log_equal"])),
        "a direction reversed": ways(lambda way: control(way["reversed_equal"])),
        "a bit of the state flipped": lambda one: control(one["bit_flipped_equal"]),
    }
    said = (
        "Larger steps, CPU to device / device to CPU. The last three columns are controls. *The log taken away* equals "
        "where no value was corrected: then nothing hung on the log."
    )
    return paragraphs(said, tabulated(rows, columns)) if rows else ""


def _accusations(found: Mapping[str, Values]) -> str:
    replays = [one for each in found.values() for one in each["replays"]]
    said = (
        "Honest runs, recorded on the CPU, on the CPU as an imitated machine, and on the device, and replayed on the "
        "device as it is and as imitated machines."
    )
    return paragraphs(f"{said} {accusation_summary(replays)}", accusation_table(replays)) if replays else ""


def _tests(found: Mapping[str, Values]) -> str:
    counts = sum((Counter(one["counts"]) for one in found.values()), Counter[str]())
    said = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
    return f"Tests that need a GPU (`pytest -m gpu`, {len(found)} files): {said}." if found else ""


def _undone(results: Results) -> str:
    """What is unexpected, and what failed, was ended or left out, with its reason."""
    sentences = [f"- {sentence}" for one in results.values() for sentence in one.strange]
    rows = [
        [one.key, one.outcome.value, one_line(one.said)] for one in results.values() if one.outcome is not Ended.DONE
    ]
    return paragraphs(
        "\n".join(["**Unexpected:**\n", *sentences]) if sentences else "",
        "Not done:\n\n" + markdown(["cell", "how it ended", "why"], rows) if rows else "",
    )


# What it costs.


def _rates(values: Values) -> str:
    rates = ", ".join(f"{name} {rate / 1e12:.3g}" for name, rate in values["operations_per_second"].items())
    driver = f", driver {values['driver']}, CUDA {values['cuda']}" if values["driver"] else ""
    return (
        f"{size(values['memory'])} of memory{driver}, Triton {values['triton'] or 'none'}. Products of "
        f"{values['side']} x {values['side']} matrices, TFLOP/s: {rates}; "
        f"{values['bytes_copied_per_second'] / 1e9:,.3g} GB/s read and written in a copy."
    )


def _steps(rows: Sequence[Values]) -> str:
    names = dict.fromkeys(one["name"] for one in rows)
    return paragraphs(*(_workload(name, [one for one in rows if one["name"] == name]) for name in names))


def _workload(name: str, rows: Sequence[Values]) -> str:
    forms = {form: taken for one in rows for form, taken in one["forms"].items()}
    names = sorted(forms, key=lambda form: (ORDER.index(form) if form in ORDER else len(ORDER), form))
    ordered = {one["form"]: one for one in rows if "flops" in one}
    rounded = ordered.get("float64-24")

    def log(form: str) -> str:
        one = ordered.get(form.split(",")[0]) if "recorded" in form else None
        if one is None:
            return "-"
        return f"{size(one['log_bytes'])}, {one['entries']:,} entries" if one["log_bytes"] else "none"

    def row(form: str) -> list[str]:
        seconds, memory = forms[form]["seconds"], forms[form]["memory"]
        bases = [forms.get(base) for base in ("eager float32", "eager float64", "unrounded float64")]
        ratios = [f"{seconds / base['seconds']:.2f}" if base else "-" for base in bases]
        rate = f"{rounded['flops'] / seconds / 1e12:.3g}" if rounded else "-"
        return [form, duration(seconds), *ratios, rate, size(memory) if memory else "-", log(form)]

    heads = ["form", "a step", "/ eager float32", "/ eager float64", "/ unrounded", "TFLOP/s", "peak memory", "log"]
    counted = (
        f"{rounded['operators']:,} operators, {rounded['values']:,} values rounded. Its products and convolutions take "
        f"about {rounded['flops'] / 1e12:.3g} TFLOP, a multiplication and an addition counting as two; TFLOP/s are "
        "these over the time of the step, in every form. "
        if rounded
        else ""
    )
    rounds = f"Median of up to {max(taken['rounds'] for taken in forms.values())} rounds."
    return paragraphs(f"### {name}", counted + rounds, markdown(heads, map(row, names)))


def _fine_tuning(values: Values) -> str:
    rows = [[one["what"], f"{one['seconds']:.1f} s"] for one in values["taken"]]
    rows.append(["audit on the CPU", f"{values['cpu_audit_seconds']:.1f} s"])
    before, after = values["losses"]
    said = (
        f"{values['made']} {' '.join(values['ordered'])} Trained and audited on the device, and audited on the CPU: "
        f"{values['cpu_audit'] or '**not VERIFIED**'} The loss on a text that neither has learned goes from {before} "
        f"to {after}."
    )
    return paragraphs("### A whole fine-tuning", said, markdown(["", "by the clock"], rows))
