"""Writes what was found on a GPU: a report, and the sections of two pages, from the files of results alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.campaign.store import Store
from benchmarks.campaign.task import Ended, Result
from benchmarks.cross_hardware.page import Found, is_exact, machine_table, pair_section, verdict
from benchmarks.cross_hardware.results import Part as Crossed, parts_of
from benchmarks.false_accusations import Replay, table as accusation_table
from benchmarks.gpu import accusations, crossing, environment, finetuning, gputests, larger, steps
from benchmarks.pages import duration, markdown, size, tabulated, write_between
from counterfoil.base.wholefiles import write_whole
from counterfoil_core.base.errors import DataError

MARKER = "gpu"
CROSS_HARDWARE, BENCHMARKS = "cross-hardware.md", "benchmarks.md"
REPORT = "report.md"
_REHEARSAL = (
    "**This is no GPU.** The device was the CPU, as a rehearsal of the command: what follows shows that its parts "
    "work, and says nothing of a GPU."
)


@dataclass(frozen=True)
class Measured:
    """The results of a folder."""

    about: Mapping[str, str]  #: Device, title, host, scale.
    results: Mapping[str, Sequence[Result]]  #: Of every task, by part.
    crossed: Sequence[Crossed]  #: What the campaign of CPU and device found.

    @classmethod
    def of(cls, folder: Path) -> Measured:
        """Read a folder.

        Raises:
            DataError: Nothing was measured there.
        """
        store = Store(folder)
        by_part: dict[str, list[Result]] = {}
        for result in store.results().values():
            by_part.setdefault(result.part, []).append(result)
        return cls(store.about, by_part, list(parts_of(folder / "campaign" / "results")))

    @property
    def on_gpu(self) -> bool:
        """Whether the device was a GPU."""
        return self.about["device"] != "cpu"

    def done(self, part: str) -> list[Result]:
        """The tasks of a part that were done."""
        return [result for result in self.results.get(part, ()) if result.outcome is Ended.DONE]


def write_report(folder: Path) -> Path:
    """Write all that was found into the folder itself; returns the file.

    Raises:
        DataError: Nothing was measured there.
        FileWriteError: It cannot be written.
    """
    found = Measured.of(folder)
    text = f"# Measured by `python -m benchmarks gpu`\n\n{across(found)}\n\n{costs(found)}\n"
    write_whole(folder / REPORT, text.encode(), what="the report")
    return folder / REPORT


def write_pages(folder: Path, docs: Path) -> tuple[Path, ...]:
    """Write the sections on GPUs of the two pages in a folder of documents; returns the pages.

    Raises:
        DataError: Nothing was measured there, or on a CPU; or a page has no place for it.
        FileWriteError: A page cannot be written.
    """
    found = Measured.of(folder)
    if not found.on_gpu:
        raise DataError(
            f"The results in {folder} are of a CPU ({found.about['title']}): no page on GPUs is written from them.",
            remedy=f"{folder / REPORT} has them. Measure on a GPU with --device cuda:0.",
        )
    sections = {CROSS_HARDWARE: across(found), BENCHMARKS: costs(found)}
    for name, text in sections.items():
        write_between(docs / name, MARKER, text)
    return tuple(docs / name for name in sections)


# What is equal, and who is accused.


def across(found: Measured) -> str:
    """Return the section on results that must be equal, as Markdown."""
    parts = [
        _heading(found, "On a GPU"),
        _selftests(found),
        _crossed(found),
        _golden(found.done(crossing.NAME)),
        _larger(found.done(larger.NAME)),
        _accusations(found.done(accusations.NAME)),
        _tests(found.done(gputests.NAME)),
        _strange(found),
        _undone(found),
    ]
    return "\n\n".join(filter(None, parts))


def _heading(found: Measured, title: str) -> str:
    """A heading, on what, with what and when; and that it is no GPU where it is none."""
    dates = sorted({result.date for results in found.results.values() for result in results if result.date})
    versions = sorted(
        {f"Counterfoil {r.counterfoil}, torch {r.torch}" for rs in found.results.values() for r in rs if r.torch}
    )
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}" if dates else "never"
    origin = (
        f"{found.about['title']} beside {found.about['host']}; {'; '.join(versions)}; {when}. Written by "
        f"`python -m benchmarks gpu` (scale {found.about['scale']})."
    )
    lines = [f"## {title}", origin, *([] if found.on_gpu else [_REHEARSAL])]
    return "\n\n".join(lines)


def _selftests(found: Measured) -> str:
    crossed = Found.of(found.crossed)
    return machine_table(crossed) if crossed.machines else ""


def _crossed(found: Measured) -> str:
    crossed = Found.of(found.crossed)
    if not crossed.replayed:
        return ""
    pairs = [pair_section(crossed, pair).strip() for pair in crossed.pairs]
    return "\n\n".join([*pairs, verdict(found.crossed)])


def _golden(results: Iterable[Result]) -> str:
    golden = [one for one in results if one.task.startswith(f"{crossing.GOLDEN}-")]
    if not golden:
        return ""

    def replayed(way: str) -> Callable[[Result], str]:
        return lambda one: f"{one.values[way]['outcome']}, {one.values[way]['corrections']} corrections"

    columns: dict[str, Callable[[Result], object]] = {
        "golden run": lambda one: one.task.removeprefix(f"{crossing.GOLDEN}-"),
        "recorded on a CPU, replayed on the device": replayed("there"),
        "run root recorded on the device": lambda one: "the golden one" if one.values["equal"] else "another",
        "replayed on the CPU": replayed("back"),
    }
    return f"The golden runs of the tests:\n\n{tabulated(golden, columns)}"


def _larger(results: Sequence[Result]) -> str:
    if not results:
        return ""

    def recorded(one: Result) -> str:
        equal = one.values["recorded_equal"]
        return _yes(equal) if is_exact(one.values["profile"]) else _plain(equal)

    def ways(of: Callable[[Mapping[str, Any]], str]) -> Callable[[Result], str]:
        return lambda one: " / ".join(of(one.values[way]) for way in ("there", "back"))

    columns: dict[str, Callable[[Result], object]] = {
        "step": lambda one: one.values["name"],
        "profile": lambda one: one.values["profile"],
        "values rounded": lambda one: f"{one.values['values']:,}" if one.values["values"] else "-",
        "both record the same": recorded,
        "replay equals the recording": ways(lambda way: _yes(way["equal"])),
        "corrections of entries": ways(lambda way: f"{way['corrections']:,} of {way['entries']:,}"),
        "the log taken away": ways(lambda way: _control(way["without_log_equal"])),
        "a direction reversed": ways(lambda way: _control(way["reversed_equal"])),
        "a bit of the state flipped": lambda one: _control(one.values["bit_flipped_equal"]),
    }
    return (
        "Larger steps, CPU to device / device to CPU. The last three columns are controls. *The log taken away* equals "
        "where no value was corrected: then nothing hung on the log.\n\n" + tabulated(results, columns)
    )


def _yes(value: bool) -> str:
    return "yes" if value else "**NO**"


def _plain(value: bool) -> str:
    """An answer that may honestly be no: two machines may round a value differently, and each logs it."""
    return "yes" if value else "no"


def _control(equal: bool | None) -> str:
    return "-" if equal is None else "equals" if equal else "differs"


def _accusations(results: Iterable[Result]) -> str:
    replays = [Replay(**value) for one in results for value in one.values["replays"]]
    if not replays:
        return ""
    clean = sum(one.clean for one in replays)
    return (
        "Honest runs, recorded on the CPU, on the CPU as an imitated machine, and on the device, and replayed on the "
        f"device as it is and as imitated machines: **{clean:,} of {len(replays):,} replays VERIFIED, with no "
        f"contradiction and no omission.**\n\n{accusation_table(replays)}"
    )


def _tests(results: Sequence[Result]) -> str:
    if not results:
        return ""
    counts: dict[str, int] = {}
    for one in results:
        for outcome, count in one.values["counts"].items():
            counts[outcome] = counts.get(outcome, 0) + count
    said = ", ".join(f"{count} {outcome}" for outcome, count in sorted(counts.items()))
    return f"Tests that need a GPU (`pytest -m gpu`, {len(results)} files): {said}."


def _strange(found: Measured) -> str:
    sentences = [sentence for results in found.results.values() for one in results for sentence in one.strange]
    return "**Unexpected:**\n\n" + "\n".join(f"- {sentence}" for sentence in sentences) if sentences else ""


def _undone(found: Measured) -> str:
    """What failed, was ended or left out, with its reason."""
    rows = [
        [one.part, one.task, one.outcome.value, one.said.replace("\n", " ").replace("|", "/")]
        for results in found.results.values()
        for one in results
        if one.outcome is not Ended.DONE
    ]
    return "Not done:\n\n" + markdown(["part", "task", "how it ended", "why"], rows) if rows else ""


# What it costs.


def costs(found: Measured) -> str:
    """Return the section on time, memory and logs, as Markdown."""
    parts = [
        _heading(found, "On a GPU: what a step costs"),
        _rates(found.done(environment.NAME)),
        _steps(found.done(steps.NAME)),
        _fine_tuning(found.done(finetuning.NAME)),
    ]
    return "\n\n".join(filter(None, parts))


def _rates(results: Sequence[Result]) -> str:
    if not results:
        return ""
    values = results[0].values
    rates = ", ".join(f"{name} {rate / 1e12:.3g}" for name, rate in values["operations_per_second"].items())
    driver = f", driver {values['driver']}, CUDA {values['cuda']}" if values["driver"] else ""
    return (
        f"{size(values['memory'])} of memory{driver}, Triton {values['triton'] or 'none'}. Products of "
        f"{values['side']} x {values['side']} matrices, TFLOP/s: {rates}; "
        f"{values['bytes_copied_per_second'] / 1e9:,.3g} GB/s read and written in a copy."
    )


def _steps(results: Sequence[Result]) -> str:
    by_workload: dict[str, list[Result]] = {}
    for one in results:
        by_workload.setdefault(one.values["name"], []).append(one)
    return "\n\n".join(_workload(name, found) for name, found in by_workload.items())


def _workload(name: str, results: Sequence[Result]) -> str:
    forms: dict[str, Mapping[str, Any]] = {}
    for one in results:
        forms |= one.values["forms"]
    order = [*steps.DTYPES, steps.TF32, "unrounded float64"]
    names = sorted(forms, key=lambda form: (order.index(form) if form in order else len(order), form))
    rounded = next((one.values for one in results if one.values["form"] == steps.ROUNDED), None)
    flops = rounded["flops"] if rounded else None
    logs = {one.values["form"]: one.values for one in results if "log_bytes" in one.values}
    rows = []
    for form in names:
        taken = forms[form]
        log = logs.get(form.split(",")[0]) if "recorded" in form else None
        rows.append(
            [
                form,
                duration(taken["seconds"]),
                *(_ratio(taken, forms.get(base)) for base in ("eager float32", "eager float64", "unrounded float64")),
                f"{flops / taken['seconds'] / 1e12:.3g}" if flops else "-",
                size(taken["memory"]) if taken["memory"] else "-",
                _log(log),
            ]
        )
    heads = ["form", "a step", "/ eager float32", "/ eager float64", "/ unrounded", "TFLOP/s", "peak memory", "log"]
    rounds = f"Median of up to {max(taken['rounds'] for taken in forms.values())} rounds."
    return f"### {name}\n\n{_counted(rounded)}{rounds}\n\n{markdown(heads, rows)}"


def _counted(rounded: Mapping[str, Any] | None) -> str:
    """What a step has, as its program says."""
    if rounded is None:
        return ""
    return (
        f"{rounded['operators']:,} operators, {rounded['values']:,} values rounded. Its products and convolutions take "
        f"about {rounded['flops'] / 1e12:.3g} TFLOP, a multiplication and an addition counting as two; TFLOP/s are "
        "these over the time of the step, in every form. "
    )


def _log(values: Mapping[str, Any] | None) -> str:
    if values is None:
        return "-"
    return f"{size(values['log_bytes'])}, {values['entries']:,} entries" if values["log_bytes"] else "none"


def _ratio(taken: Mapping[str, Any], base: Mapping[str, Any] | None) -> str:
    return "-" if base is None else f"{taken['seconds'] / base['seconds']:.2f}"


def _fine_tuning(results: Sequence[Result]) -> str:
    if not results:
        return ""
    values = results[0].values
    rows = [[one["what"], f"{one['seconds']:.1f} s"] for one in values["taken"]]
    rows.append(["audit on the CPU", f"{values['cpu_audit_seconds']:.1f} s"])
    before, after = values["losses"]
    return (
        "### A whole fine-tuning\n\n"
        f"{values['made']} {' '.join(values['ordered'])} Trained and audited on the device, and audited on the CPU: "
        f"{values['cpu_audit'] or '**not VERIFIED**'} The loss on a text that neither has learned goes from {before} "
        f"to {after}.\n\n{markdown(['', 'by the clock'], rows)}"
    )
