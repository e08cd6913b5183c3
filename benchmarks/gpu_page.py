"""The page of a GPU, from the results alone."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.cross_pages import CampaignRows, is_exact, machine_table, pair_section, summary, surprises
from benchmarks.measure import ROOT, Ended, Results, Sections, Values, figures, origins, slug
from benchmarks.pages import duration, markdown, one_line, paragraphs, size, tabulated
from benchmarks.replays import accusation_summary, accusation_table
from counterfoil_core.base.errors import DataError

ORDER = ("eager float32", "eager float64", "eager bfloat16", "eager TensorFloat-32", "unrounded float64")
"""Of the forms of a step; others follow."""
FOLDER = "gpu-results"
"""Where pages lie, one for each card, in ``docs/``."""
_REHEARSAL = (
    "**This is no GPU.** It is a rehearsal: no device was there, its kernels were executed on a processor and the jobs "
    "are small. It shows that the parts work. All times, rates and memory are left out."
)


def pages(results: Results, about: Mapping[str, str], rows: Sequence[Values], docs: Path | None) -> Sections:
    """Return the page of a card, and the list of all such pages; of a rehearsal the page alone.

    Args:
        results: What was measured.
        about: Of what.
        rows: Those of the campaign.
        docs: The folder that pages are to be written to, if any.

    Raises:
        DataError: Nothing was measured; or the documentation is to be written from a rehearsal.
    """
    if not about:
        raise DataError("There are no results there.", remedy="Measure first, without --minutes 0.")
    rehearsed = about["rehearsal"] == "yes"
    if rehearsed and docs is not None and docs.resolve().is_relative_to(ROOT):
        raise DataError(
            "These are results of a rehearsal without a GPU: no page of the documentation is written from them.",
            remedy="Name another folder with --write, or measure on a GPU with --device cuda:0.",
        )
    shown = {key: replace(one, values=_withheld(one.values)) for key, one in results.items()} if rehearsed else results
    parts = {part: figures(shown, f"{part}/") for part in dict.fromkeys(key.split("/")[0] for key in shown)}
    title = about["title"]
    name = f"{'rehearsal-' if rehearsed else ''}{slug(title)}.md"

    def part(name: str) -> Mapping[str, Values]:
        return parts.get(name, {})

    text = paragraphs(
        f"# {'Rehearsal: ' if rehearsed else ''}{title}",
        "*For*: whoever asks what holds on this device.\n*Answers*: what ran there, what came out, and what it took.",
        _REHEARSAL if rehearsed else "",
        f"{title} beside {about['host']}. {origins(results)} Written by `make gpu`.",
        *map(_environment, part("environment").values()),
        _titled("Tests on the device", _tests(part("tests"))),
        _titled("Runs of one machine replayed on the other", _crossed(rows), _golden(part("crossing"))),
        _titled("Larger steps, and those that libraries compute otherwise", _larger([*part("larger").values()])),
        _titled("Honest runs", _accusations(part("accusations"))),
        _titled("Answers", _answers(part("answers"))),
        _titled("A job too large for the device", _memory([*part("memory").values()])),
        _titled("What a step costs", *map(_rates, part("environment").values()), _steps([*part("steps").values()])),
        _titled("Launches of a step", _launches([*part("launches").values()])),
        _titled("Kernels", *map(_bandwidth, part("bandwidth").values()), *map(_compiling, part("compiling").values())),
        _titled("A whole fine-tuning", *map(_fine_tuning, part("fine-tuning").values())),
        _titled("Unexpected, or not done", _undone(results)),
    )  # fmt: skip
    if rehearsed:
        return {(f"{FOLDER}/{name}", ""): _FIGURE.sub("-", text)}
    return {(f"{FOLDER}/{name}", ""): text, ("cross-hardware.md", "gpu"): _listed(docs, name, title)}


_FIGURE = re.compile(r"\d[\d,.]*(?:e[-+]\d+)?(?: (?:ms|s|min|bytes|[KMGT]i?B|T?FLOP)\b|%)|(?<=has )[\d.]+\d")
"""What would be left of what was measured, within sentences."""


def _listed(docs: Path | None, name: str, title: str) -> str:
    """The links to the pages that there are, that of a name among them."""
    found = {path.name: path for path in sorted((docs / FOLDER).glob("*.md"))} if docs is not None else {}
    titles = {each: path.read_text("utf-8").partition("\n")[0].removeprefix("# ") for each, path in found.items()}
    links = "\n".join(f"- [{each}]({FOLDER}/{file})" for file, each in sorted({**titles, name: title}.items()))
    return f"Measured by `make gpu`, a page for each card:\n\n{links}"


def _withheld(value: Any, of_device: bool = False) -> Any:
    """A value without what was measured: times and rates are not numbers there, nor is what a device had or did."""
    if isinstance(value, Mapping):
        return {key: 0 if key == "memory" else _withheld(each, key in _OF_DEVICE) for key, each in value.items()}
    if isinstance(value, list):
        return [_withheld(each) for each in value]
    return math.nan if isinstance(value, float) or (of_device and isinstance(value, int)) else value


_OF_DEVICE = ("ours", "libraries", "copies")
"""What counts launches."""


def _titled(title: str, *parts: str) -> str:
    """Some parts under a title; nothing where there are none."""
    return paragraphs(f"## {title}", *parts) if any(parts) else ""


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
    outcomes = sorted({outcome for one in found.values() for outcome in one["counts"]})
    columns: dict[str, str | Callable[[tuple[str, Values]], object]] = {"tests of": lambda one: one[0]}
    for each in outcomes:
        columns[each] = lambda one, each=each: one[1]["counts"].get(each, 0)  # type: ignore[misc]
    return tabulated(found.items(), columns) if found else ""


def _answers(found: Mapping[str, Values]) -> str:
    def checks(one: tuple[str, Values]) -> str:
        return ", ".join(f"{each['maker']}'s on {each['machine']} {each['outcome']}" for each in one[1]["checks"])

    def forged(one: tuple[str, Values]) -> str:
        return ", ".join(f"{each['forged']} at {each['forged_at']}" for each in one[1]["checks"])

    columns: dict[str, str | Callable[[tuple[str, Values]], object]] = {
        "answer": lambda one: f"{one[1]['tokens']} tokens, {one[0]}",
        "the same on both": lambda one: "yes" if one[1]["equal"] else "**no**",
        "checked": checks,
        "with a forged token": forged,
        "made on the device in": lambda one: duration(one[1]["made"]["device"]),
        "checked there in": lambda one: duration(one[1]["checks"][1]["seconds"]),
    }
    return tabulated(found.items(), columns) if found else ""


def _memory(rows: Sequence[Values]) -> str:
    columns: dict[str, str | Callable[[Values], object]] = {"profile": "{form}"}
    for when in ("an order", "a recording", "an audit"):
        columns[when] = lambda one, when=when: one_line(one["ended"][when]) or "**no remedy**"  # type: ignore[misc]
    columns["works afterwards"] = lambda one: "yes" if one["works"] else "**NO**"
    return tabulated(rows, columns) if rows else ""


def _undone(results: Results) -> str:
    """What is unexpected, and what failed, was ended or left out, with its reason."""
    sentences = [f"- {one_line(sentence)}" for one in results.values() for sentence in one.strange]
    rows = [
        [one.key, one.outcome.value, one_line(one.said)] for one in results.values() if one.outcome is not Ended.DONE
    ]
    return paragraphs(
        "\n".join(["**Unexpected:**\n", *sentences]) if sentences else "",
        "Not done:\n\n" + markdown(["cell", "how it ended", "why"], rows) if rows else "",
    )


# What it costs.


def _environment(values: Values) -> str:
    driver = f"driver {values['driver']}, CUDA {values['cuda']}, " if values["driver"] else ""
    rows = sorted(values["environment"].items())
    said = (
        f"{size(values['memory'])} of memory, {driver}Triton {values['triton'] or 'none'}, Python {values['python']}."
    )
    return paragraphs(said, markdown(["environment in a claim", ""], [[name, f"`{text}`"] for name, text in rows]))


def _rates(values: Values) -> str:
    rates = ", ".join(f"{name} {rate / 1e12:.3g}" for name, rate in values["operations_per_second"].items())
    return (
        f"Products of {values['side']} x {values['side']} matrices by the library, TFLOP/s: {rates}; "
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
    return paragraphs(said, markdown(["", "by the clock"], rows))


# The kernels by themselves.


def _bandwidth(values: Values) -> str:
    copied = values["copied"]
    passes: dict[str, str | Callable[[tuple[str, Values]], object]] = {
        "kernel": lambda one: one[0],
        "bytes": lambda one: size(one[1]["bytes"]),
        "time": lambda one: duration(one[1]["seconds"]),
        "GB/s": lambda one: f"{one[1]['bytes'] / one[1]['seconds'] / 1e9:,.0f}",
        "of a copy": lambda one: f"{one[1]['bytes'] / one[1]['seconds'] / copied:.0%}",
    }
    side = values["side"]
    products: dict[str, str | Callable[[tuple[str, Values]], object]] = {
        "product": lambda one: one[0],
        "form": lambda one: one[1]["form"],
        "time": lambda one: duration(one[1]["seconds"]),
        "TFLOP/s": lambda one: f"{2 * side**3 / one[1]['seconds'] / 1e12:.3g}",
    }
    said = (
        f"One pass over {values['elements']:,} elements; bytes are those that it has to read and write. A copy reaches "
        f"{copied / 1e9:,.0f} GB/s. Hashes come to the host."
    )
    return paragraphs(
        said, tabulated(values["passes"].items(), passes), f"Products of {side} x {side} float32 matrices:",
        tabulated(values["products"].items(), products),
    )  # fmt: skip


def _compiling(values: Values) -> str:
    columns: dict[str, str | Callable[[tuple[str, Values]], object]] = {
        "kernel": lambda one: f"`{one[0]}`",
        "variants": lambda one: one[1]["variants"],
        "all of them": lambda one: duration(one[1]["seconds"]),
        "the longest": lambda one: duration(one[1]["most"]),
    }
    steps = "; ".join(
        f"{form} {duration(each['first'])}, then {duration(each['second'])}" for form, each in values["steps"].items()
    )
    table = tabulated(values["kernels"].items(), columns) if values["kernels"] else "Nothing was compiled."
    return paragraphs("Compiled with nothing kept of earlier runs:", table, f"The first step of digits: {steps}.")


def _launches(rows: Sequence[Values]) -> str:
    def counts(what: str) -> Callable[[Values], str]:
        return lambda one: ", ".join(str(count) for count in one["launches"][what].values())

    def each(one: Values) -> str:
        ways = one["launches"].values()
        return " / ".join(f"{(way['ours'] + way['libraries']) / one['operators']:.2f}" for way in ways)

    columns: dict[str, str | Callable[[Values], object]] = {
        "step": "{name}",
        "profile": "{form}",
        "operators": "{operators}",
        "recorded: ours, libraries', copies": counts("recorded"),
        "replayed": counts("replayed"),
        "launches an operator": each,
    }
    return tabulated(rows, columns) if rows else ""
