"""Larger steps, recorded on the CPU and replayed on the device, and the reverse, with controls.

The jobs of :mod:`.crossing` are so small that hardly a decision is close. Here the log is needed, so that it can be
taken away: a replay that follows no log, or one with one direction reversed, must not give the trainer's values, and a
step from a state with one bit flipped must give another state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.campaign.task import Found, Task
from benchmarks.cross_hardware.ordinary import root_of
from benchmarks.forms import Forms
from benchmarks.gpu.part import Part
from benchmarks.gpu.settings import Settings
from benchmarks.workloads import WORKLOADS, Workload, public_gpt2
from counterfoil.training.order import OrderDraft
from counterfoil_core.arithmetic.grid.log import SiteLog
from counterfoil_core.arithmetic.machine import open_machine
from counterfoil_core.base.precision import PROFILES
from counterfoil_core.kernels.result import Counts

NAME = "larger"
_PROFILES = ("float64-24", "exact-20")
_THREADS = 4
"""Of the CPU, for each of several such steps at a time."""
_LARGE: Mapping[str, Callable[[], Workload]] = {
    **{name: WORKLOADS[name] for name in ("wide-gpt2", "wide-cnn", "digits")},
    "gpt2-124m": lambda: public_gpt2(8, 64),
}
_SMALL = ("digits",)


def _tasks(settings: Settings) -> list[Task]:
    names = _SMALL if settings.small else tuple(_LARGE)
    seconds = {"gpt2-124m": 120.0, "digits": 20.0}
    return [Task(NAME, f"{name}.{profile}", seconds.get(name, 45), 300) for name in names for profile in _PROFILES]


def _do(settings: Settings, name: str) -> Found:
    key, profile = name.split(".", 1)
    workload = _LARGE[key]()
    draft = workload.order(PROFILES[profile])
    with ExitStack() as stack:

        def forms(device: str, order: OrderDraft) -> Forms:
            machine = open_machine(device, min(_THREADS, settings.all_threads))
            return Forms(order, machine, stack.enter_context(machine.kernels()))

        host, device = forms("cpu", draft), forms(settings.device, draft)
        roots = [root_of(one.record().state).hex for one in (host, device)]
        there, back = _across(host, device), _across(device, host)
        flipped = root_of(forms(settings.device, with_a_bit_flipped(draft)).record().state).hex
        values = {
            "name": workload.name,
            "profile": profile,
            "values": sum(site.elements for site in draft.program.sites),
            "recorded_equal": roots[0] == roots[1]
            and bool(np.array_equal(host.fingerprints[0], device.fingerprints[0])),
            "there": there,
            "back": back,
            "bit_flipped_equal": flipped == roots[1],
        }
    return Found(_said(values), values, tuple(_strange(workload.name, profile, values)))


def _across(trainer: Forms, auditor: Forms) -> dict[str, Any]:
    """Replay what one recorded on the other, following its log, none, and one with a direction reversed."""

    def follow(logs: Sequence[SiteLog]) -> bool:
        """Whether every value is the trainer's."""
        auditor.replay(logs=logs)
        return bool(np.array_equal(auditor.fingerprints[1], trainer.fingerprints[0]))

    logs = trainer.logs
    equal, counts = follow(logs), sum(auditor.counts, Counts())
    reversed_one = with_a_direction_reversed(logs)
    return {
        "equal": equal,
        "entries": sum(len(site.indices) for site in logs),
        "corrections": counts.corrections,
        "contradictions": counts.contradictions,
        "omissions": counts.omissions,
        "without_log_equal": follow(without_entries(logs)) if logs else None,
        "reversed_equal": None if reversed_one is None else follow(reversed_one),
    }


def without_entries(logs: Sequence[SiteLog]) -> tuple[SiteLog, ...]:
    """Return logs with the scales alone: each value goes to the nearest grid point of this machine."""
    none = np.empty(0, np.int64), np.empty(0, np.bool_)
    return tuple(SiteLog(site.exponent, *none) for site in logs)


def with_a_direction_reversed(logs: Sequence[SiteLog]) -> tuple[SiteLog, ...] | None:
    """Return logs whose first entry says the other direction; None where there is no entry."""
    for place, site in enumerate(logs):
        if len(site.indices):
            ups = site.ups.copy()
            ups[0] = not ups[0]
            return (*logs[:place], replace(site, ups=ups), *logs[place + 1 :])
    return None


def with_a_bit_flipped(order: OrderDraft) -> OrderDraft:
    """Return an order that starts from a state with the last bit of one weight flipped, under the same name."""
    name = next(name for name, array in order.initial.items() if array.dtype == np.float32 and array.any())
    array = order.initial[name].copy()
    flat = array.reshape(-1).view(np.uint32)
    flat[int(np.flatnonzero(flat)[0])] ^= 1
    return replace(order, initial={**order.initial, name: array})


def _strange(name: str, profile: str, values: Mapping[str, Any]) -> list[str]:
    found = []
    for way in ("there", "back"):
        one = values[way]
        where = f"{name}, {profile}, {'CPU to device' if way == 'there' else 'device to CPU'}"
        if not one["equal"] or one["contradictions"] or one["omissions"]:
            found.append(f"{where}: the replay is not the recorded step, or doubts it")
        if one["reversed_equal"]:
            found.append(f"{where}: a log with a direction reversed gives the same values")
        if one["corrections"] and one["without_log_equal"]:
            found.append(f"{where}: the log decides nothing, though values were corrected")
    if profile.startswith("exact-") and not values["recorded_equal"]:
        found.append(f"{name}, {profile}: CPU and device record different steps")
    if values["bit_flipped_equal"]:
        found.append(f"{name}, {profile}: a flipped bit of the state changes nothing")
    return found


def _said(values: Mapping[str, Any]) -> str:
    ways = [values[way] for way in ("there", "back")]
    return (
        f"{'equal' if all(one['equal'] for one in ways) else 'DIFFERENT'} both ways, "
        f"{' and '.join(str(one['corrections']) for one in ways)} corrections"
    )


LARGER = Part(NAME, "larger steps across CPU and device, with controls", _tasks, _do)
