"""Rounders for a CUDA device that run ahead of it: a step is queued operator by operator, and nobody waits for any.

ADR 12 says why. Scales, exponents and grids are found on the device; what a pass reports lies in a row for its place
(:class:`counterfoil_core.kernels.cuda.rounding.Slot`), and all rows, the close decisions and the step's own numbers
come to the host in one transfer at the step's end. Only then is it known whether the step was an ordinary one: every
scale finite, every value within float32's range, room for every decision, every index inside. A step that was not is
computed again from its beginning by the ordinary rounder, which waits for each operator: it has the errors, and it
allows the infinities that arguments hold. So a step comes out the same either way.

The replay's directions are taken on the device. The logged elements' own values come to the host too, and are judged
there as by the ordinary rounder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from counterfoil_core.arithmetic.families.table import scale_rule
from counterfoil_core.arithmetic.grid.directions import apply_directions
from counterfoil_core.arithmetic.grid.exactresults import Unrounded, WithoutLog
from counterfoil_core.arithmetic.grid.fingerprints import Kernels, Unfit, Watched, place_keys
from counterfoil_core.arithmetic.grid.log import SiteLog
from counterfoil_core.arithmetic.grid.margin import site_margins
from counterfoil_core.arithmetic.grid.neighbours import Values
from counterfoil_core.arithmetic.grid.replayrounder import Observation, ReplayingRounder
from counterfoil_core.arithmetic.grid.rounder import RecordingRounder, Rounder
from counterfoil_core.base.precision import Precision
from counterfoil_core.kernels.cpu.rounding import INFINITY
from counterfoil_core.kernels.cuda.rounding import OWN_TYPES, SLOTS, Directions, GridChoice, Pass, Slot
from counterfoil_core.kernels.devicenumber import DeviceNumber, number_on
from counterfoil_core.kernels.grid import (
    FLOAT64_BIAS,
    LARGEST_EXPONENT,
    OMISSION_SHARE,
    ZERO_SCALE,
    Grid,
    is_explained,
    scale_exponent,
)
from counterfoil_core.kernels.result import Counts
from counterfoil_core.operators.node import Node
from counterfoil_core.program.chains import Chain
from counterfoil_core.program.graph import Program
from counterfoil_core.program.torchdtypes import TORCH_DTYPES

Int64Array = npt.NDArray[np.int64]
Arguments = Callable[[], dict[str, Any]]
Outputs = list[Tensor | None]

_HEAD = 16
"""Numbers before the rows: the first counts close decisions."""
_LEAST_ROOM = 1 << 16
_SHARE_OF_VALUES = 1 << 10
"""There is room for one close decision in so many values at first."""
_OMISSION_BITS = OMISSION_SHARE.bit_length() - 1


class Ahead:
    """What the rounders share: the memory of a step on the device, and the way back to an ordinary rounder.

    Args:
        program: The program of a step.
        device: The device.
        significand_bits: p; any number where nothing is rounded.
        room: Close decisions that there is room for; None to choose.
    """

    _ordinary: Rounder | Unrounded
    """What takes over where a step is not ordinary; it waits for the device."""
    dtype: torch.dtype
    """What is computed in."""

    def __init__(self, program: Program, device: torch.device, significand_bits: int, room: int | None) -> None:
        self._program = program
        self.device = device
        """Where the step is computed."""
        self._pass = Pass(significand_bits)
        values = sum(site.elements for site in program.sites)
        self._room = room if room is not None else _LEAST_ROOM + values // _SHARE_OF_VALUES
        self._expected = _LEAST_ROOM
        """Close decisions that the one transfer brings; more take a second one."""
        self._key = 0
        self._site = 0
        self._waits = False
        self._always_waits = False
        self._fingerprints = np.zeros(len(program.places), np.uint64)
        self._memory = torch.empty(0, dtype=torch.int64, device=device)
        self._flags: list[Tensor] = []

    @property
    def waits(self) -> bool:
        """Whether the step is one for the ordinary rounder, which waits for each operator."""
        return self._waits

    def _begin(self, key: int, exponents: Sequence[int], gathered: int) -> None:
        """Start a step: one transfer to the device, of the keys and of the trainer's exponents."""
        self._key, self._site, self._waits, self._flags = key, 0, self._always_waits, []
        if self._waits:
            self._begin_ordinary()
            return
        places = len(self._program.places)
        head = np.zeros(_HEAD + places * SLOTS, np.int64)
        rows = head[_HEAD:].reshape(places, SLOTS)
        rows[:, Slot.KEY] = np.array(place_keys(key, places), np.uint64).view(np.int64)
        for place, exponent in zip(self._program.site_places, exponents, strict=False):
            rows[place, Slot.GIVEN] = exponent
        self._gathered = gathered
        # Rows, the step's own numbers, unrounded and rounded values of logged elements, close decisions.
        self._numbers = len(head)
        self._most_numbers = 2 + len(self._program.results)
        self._values = self._numbers + self._most_numbers
        self._entries = self._values + 2 * gathered
        needed = self._entries + self._room
        if self._memory.numel() != needed:
            self._memory = torch.empty(needed, dtype=torch.int64, device=self.device)
        self._memory[: len(head)].copy_(torch.from_numpy(head))

    def begin_step(self, key: int) -> None:
        """Start a step with its fingerprint key, and without a log."""
        self._begin(key, (), 0)

    def _begin_ordinary(self) -> None:
        self._ordinary.begin_step(self._key)

    def wait(self) -> None:
        """Compute this step again with the ordinary rounder."""
        self._waits = True
        self._begin_ordinary()

    @property
    def fingerprints(self) -> npt.NDArray[np.uint64]:
        """uint64 ``[places]``: the fingerprints of the step."""
        return self._ordinary.fingerprints if self._waits else self._fingerprints

    @property
    def unfit(self) -> Unfit | None:
        """What ended the step, if an output of an operator of class rounded did: whoever waits finds it."""
        return self._ordinary.unfit if self._waits else None

    def watch(self, place: int, value: Tensor, arguments: Arguments) -> None:
        """Fingerprint a value that is not rounded, as the ordinary one does."""
        if self._waits:
            self._ordinary.watch(place, value, arguments)
        else:
            self._look(place, value)

    def __call__(self, node: Node, arguments: Arguments, outputs: Outputs) -> Outputs:
        """Take an operator's outputs, as the ordinary one does; what is wrong with values shows at the step's end."""
        return self._ordinary(node, arguments, outputs) if self._waits else self._take(node, arguments, outputs)

    def _take(self, node: Node, arguments: Arguments, outputs: Outputs) -> Outputs:
        """Take an operator's outputs without waiting."""
        raise NotImplementedError

    def flag(self, wrong: Tensor) -> None:
        """Take note that the step is no ordinary one where ``wrong``, bool ``[]`` on the device, is true."""
        self._flags.append(wrong)

    def _row(self, place: int) -> Tensor:
        return self._memory[_HEAD + place * SLOTS : _HEAD + (place + 1) * SLOTS]

    def rows(self, chain: Chain) -> list[Tensor]:
        """Return the rows of the places of a chain, int64 ``[16]`` each, first those of its sites, and pass these."""
        assert not chain.sites or chain.sites[0] == self._site, "sites are computed in their order"
        self._site += len(chain.sites)
        return [self._row(place) for place in (*(self._program.site_places[s] for s in chain.sites), *chain.watched)]

    def _look(self, place: int, value: Tensor) -> None:
        """Fingerprint a value as it is."""
        flat = value.reshape(-1)
        if flat.dtype not in OWN_TYPES:
            flat = flat.double() if flat.is_floating_point() else flat.long()
        self._pass.fingerprint(flat.contiguous(), self._row(place))

    def finish(self, numbers: Tensor) -> list[float] | None:
        """End a step: bring what the device holds of it to the host.

        Args:
            numbers: float64 ``[n]`` on the device: what the caller wants to know.

        Returns:
            These numbers; None where the step must be computed again, for which :meth:`wait` was called.
        """
        assert not self._waits, "the ordinary rounder has finished operator by operator"
        wrong = torch.stack(self._flags).any().double() if self._flags else numbers.new_zeros(())
        told = torch.cat([wrong[None], numbers])
        assert told.numel() <= self._most_numbers
        self._memory[self._numbers : self._numbers + told.numel()].copy_(told.view(torch.int64))
        report = self._memory[: self._entries + min(self._expected, self._room)].cpu().numpy()
        decisions = int(report[0])
        answer: list[float] = report[self._numbers : self._numbers + told.numel()].view(np.float64).tolist()
        if decisions > self._room:
            self._room = 2 * decisions
            self.wait()
            return None
        self._expected = _LEAST_ROOM + 2 * decisions
        entries = report[self._entries :][:decisions]
        if len(entries) < decisions:
            entries = self._memory[self._entries : self._entries + decisions].cpu().numpy()
        rows = report[_HEAD : self._numbers].reshape(-1, SLOTS)
        self._fingerprints = rows[:, Slot.FINGERPRINT].copy().view(np.uint64)
        if answer[0] or not self._is_ordinary(rows[list(self._program.site_places)]):
            # Where infinities pass, they will in the next step too.
            self._always_waits = True
            self.wait()
            return None
        self._conclude(rows, report[self._values : self._entries], entries)
        return answer[1:]

    def _is_ordinary(self, rows: Int64Array) -> bool:
        """Whether the sites' rows, int64 ``[sites, 16]``, are those of a step without infinities and errors."""
        raise NotImplementedError

    def _conclude(self, rows: Int64Array, values: Int64Array, entries: Int64Array) -> None:
        raise NotImplementedError


class _RoundingAhead(Ahead):
    """What recording and replaying share."""

    _share_bits = 0

    def __init__(self, program: Program, precision: Precision, kernels: Kernels, room: int | None) -> None:
        super().__init__(program, kernels.device, precision.significand_bits, room)
        self.dtype = TORCH_DTYPES[precision.compute]
        self._precision = precision
        self._margins = site_margins(program, precision)

    def _take(self, node: Node, arguments: Arguments, outputs: Outputs) -> Outputs:
        scales = scale_rule(node.entry)(arguments(), outputs)
        result: Outputs = []
        for position, output in enumerate(outputs):
            if output is None or not node.floating[position]:
                result.append(output)
                continue
            scale = scales[position]
            assert scale is not None, "a scale rule gave no scale for a floating-point output"
            contiguous = output.contiguous()
            row = self._row(self._program.site_places[self._site])
            if isinstance(scale, float):
                size = DeviceNumber.read(number_on(scale, torch.float64, self.device))
            else:
                size = scale
            self._round(contiguous.view(-1), row, size)
            self._site += 1
            result.append(contiguous)
        return result

    def _round(self, flat: Tensor, row: Tensor, scale: DeviceNumber) -> None:
        margin = self._margins[self._site].bits + self._share_bits
        choice = GridChoice(scale, self._precision.guard_bits, margin, self._directions())
        self._pass.round(flat, row, self._memory[self._entries :], self._memory[:1], choice=choice)

    def _directions(self) -> Directions | None:
        """The directions that are taken at the next site; None where no log is followed."""
        return None

    def _is_ordinary(self, rows: Int64Array) -> bool:
        scales = rows[:, Slot.SCALE].copy().view(np.float64)
        exponents = (rows[:, Slot.LARGEST] >> 52) - FLOAT64_BIAS
        return all(scale_exponent(scale) is not None for scale in scales.tolist()) and bool(
            (exponents <= LARGEST_EXPONENT).all()
        )

    def _sites(self, rows: Int64Array, entries: Int64Array) -> list[tuple[float, Int64Array, npt.NDArray[np.bool_]]]:
        """S, ascending indices and directions of the collected decisions, of each site."""
        found, start = [], 0
        for place in self._program.site_places:
            row = rows[place]
            # The sites ran one after the other, and so did their additions to the cursor.
            ordered = np.sort(entries[start : start + int(row[Slot.COUNT])])
            start += len(ordered)
            scale = float(row[Slot.SCALE : Slot.SCALE + 1].view(np.float64)[0])
            found.append((scale, ordered >> 1, (ordered & 1).astype(np.bool_)))
        assert start == len(entries)
        return found


class RecordingAhead(_RoundingAhead):
    """The trainer's side; it has the attributes of a :class:`RecordingRounder`, valid when the step is finished.

    Args:
        program: The program of a step.
        precision: The precision profile.
        kernels: The rounding kernels.
        room: Close decisions of a step that there is room for at first; None to choose.
    """

    _ordinary: RecordingRounder

    def __init__(self, program: Program, precision: Precision, kernels: Kernels, room: int | None = None) -> None:
        super().__init__(program, precision, kernels, room)
        self._ordinary = RecordingRounder(program, precision, kernels)
        self._logs: list[SiteLog] = []

    def begin_step(self, key: int) -> None:
        """Start a step with an empty log."""
        self._logs = []
        super().begin_step(key)

    @property
    def logs(self) -> list[SiteLog]:
        """One log for each rounding site."""
        return self._ordinary.logs if self._waits else self._logs

    def _conclude(self, rows: Int64Array, values: Int64Array, entries: Int64Array) -> None:
        for scale, indices, ups in self._sites(rows, entries):
            exponent = scale_exponent(scale)
            assert exponent is not None
            kept = 0 if exponent == ZERO_SCALE else len(indices)
            self._logs.append(SiteLog(exponent, indices[:kept], ups[:kept]))


class ReplayingAhead(_RoundingAhead):
    """The auditor's side; it has the attributes of a :class:`ReplayingRounder`, valid when the step is finished.

    Args:
        program: The program of a step.
        precision: The precision profile.
        kernels: The rounding kernels.
        room: Own close decisions of a step that there is room for at first; None to choose.
    """

    own_logs: Sequence[SiteLog] = ()
    """No own log is kept."""
    observation: Observation | None = None
    """Nothing is observed."""
    watched: Watched | None = None
    """Nor here."""
    _ordinary: ReplayingRounder
    _share_bits = _OMISSION_BITS

    def __init__(self, program: Program, precision: Precision, kernels: Kernels, room: int | None = None) -> None:
        super().__init__(program, precision, kernels, room)
        self._ordinary = ReplayingRounder(program, precision, kernels)
        self._logs: Sequence[SiteLog] = ()
        self._forced: Mapping[int, Values] = {}
        self._ends: list[int] = []
        self._counts: list[Counts] = []

    def follow(self, key: int, logs: Sequence[SiteLog], forced: Mapping[int, Values] | None = None) -> None:
        """Start a step with the trainer's log of it, which goes to the device at once.

        Args:
            key: The fingerprint key of the step.
            logs: The log of each rounding site, in the program's order.
            forced: Values that replace the own ones, by site: those are for the ordinary rounder.
        """
        self._logs, self._forced, self._counts = logs, forced or {}, []
        self._ends = np.cumsum([0, *(len(log.indices) for log in logs)]).tolist()
        self._begin(key, [log.exponent for log in logs], self._ends[-1])
        if self._forced and not self._waits:
            self.wait()
        if not self._waits:
            parts = [log.indices * 2 + log.ups for log in logs]
            self._logged = torch.from_numpy(np.concatenate([*parts, np.empty(0, np.int64)])).to(self.device)

    def _begin_ordinary(self) -> None:
        self._ordinary.follow(self._key, self._logs, self._forced)

    @property
    def counts(self) -> list[Counts]:
        """What came to light at each rounding site."""
        return self._ordinary.counts if self._waits else self._counts

    def _directions(self) -> Directions:
        first, last = self._ends[self._site], self._ends[self._site + 1]
        own, before = self._values, self._values + self._gathered
        return Directions(
            self._logged[first:last],
            self._memory[own + first : own + last],
            self._memory[before + first : before + last],
            self._margins[self._site].bits,
        )

    def _conclude(self, rows: Int64Array, values: Int64Array, entries: Int64Array) -> None:
        own, before = values.view(np.float64).reshape(2, -1)
        for site, (scale, indices, _) in enumerate(self._sites(rows, entries)):
            log, margin = self._logs[site], self._margins[site]
            exponent = int(rows[self._program.site_places[site], Slot.EXPONENT])
            missing = 0
            if exponent != ZERO_SCALE:
                missing = len(np.setdiff1d(indices, log.indices, assume_unique=True))
            counts = Counts(contradictions=int(not is_explained(log.exponent, scale)), omissions=missing)
            if len(log.indices):
                part = slice(self._ends[site], self._ends[site + 1])
                grid = Grid.of(exponent, self._precision, margin.bits)
                counts += apply_directions(own[part], before[part], log.ups, grid, margin.steerable)[0]
            self._counts.append(counts)


class UnroundedAhead(Ahead, WithoutLog):
    """Both sides of an exact profile.

    Args:
        program: The program of a step.
        kernels: The rounding kernels, for their device.
    """

    _ordinary: Unrounded

    def __init__(self, program: Program, kernels: Kernels) -> None:
        super().__init__(program, kernels.device, 0, 0)
        self.dtype = torch.float32
        self._ordinary = Unrounded(program, kernels)

    def _take(self, node: Node, arguments: Arguments, outputs: Outputs) -> Outputs:
        for output, is_site in zip(outputs, node.floating, strict=True):
            if output is not None and is_site:
                self._look(self._program.site_places[self._site], output)
                self._site += 1
        return outputs

    def _is_ordinary(self, rows: Int64Array) -> bool:
        return bool((rows[:, Slot.LARGEST] < INFINITY).all())

    def _conclude(self, rows: Int64Array, values: Int64Array, entries: Int64Array) -> None:
        """Nothing more to say: fingerprints are all there is."""
