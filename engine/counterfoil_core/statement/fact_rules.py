"""Rule 20: the facts in a verdict are those of the run that it names, and add up. Pure."""

from __future__ import annotations

import math
from itertools import pairwise

from msgspec import UNSET

from counterfoil_core.base.sentence import say
from counterfoil_core.statement.judgement import Verdict
from counterfoil_core.statement.violation import Broken, contradiction
from counterfoil_core.values.outcome import CheckNumber, CheckState
from counterfoil_core.values.runfacts import KINDS, PARTS, DataUse, OperationCount, RunFacts, seconds_between

_DONE = (CheckState.PASSED, CheckState.WARNING)
_PRODUCTS = KINDS[:2]


def facts(verdict: Verdict) -> Broken:
    """Rule 20: facts come with the checks that bind them, are of the verdict's run, and follow from each other."""
    said, fields = verdict.run_facts, verdict.statement.facts
    if said is None or fields is UNSET:
        return
    # A stored state that is damaged is found while the steps around it are replayed; no fact is counted from states.
    needed = (number for number in CheckNumber if number < CheckNumber.COMMITMENTS)
    if any(verdict.states[number] not in _DONE for number in needed):
        yield contradiction(verdict, say("it states facts of a run that was not checked"))
    theirs = (
        said.run_root, said.order, said.trainer_key, said.client_key, said.title, said.steps, said.steps_ordered,
        said.exact_bits, dict(said.machine),
    )  # fmt: skip
    ours = (
        verdict.run_root, verdict.run_order, verdict.trainer_key, verdict.client_key, verdict.title,
        verdict.steps_recorded, verdict.steps_ordered, verdict.exact_bits,
        verdict.statement.environment.trainer,
    )  # fmt: skip
    if theirs != ours:
        yield contradiction(verdict, say("its facts are those of another run"))
    if said.energy_kwh:
        yield contradiction(verdict, say("its facts name an energy, which no audit finds"))
    if int(fields.total_operations) != said.total_operations:
        yield contradiction(verdict, say("the operations of its facts do not add up"))
    yield from _wrong_operations(verdict, said)
    yield from _wrong_data(verdict, said)
    if said.score is not None and not all(one.fits for one in said.score.counts):
        yield contradiction(verdict, say("the score of its facts has counts of another shape than they say"))
    try:
        passed = seconds_between(said.started, said.signed)
    except ValueError:
        yield contradiction(verdict, say("its facts name a moment that is none"))
        return
    if passed != said.seconds:
        yield contradiction(verdict, say("its facts have another duration than from begin to end"))


def _wrong_operations(verdict: Verdict, said: RunFacts) -> Broken:
    sorts = [(PARTS.index(each.part), KINDS.index(each.kind), each.precision) for each in said.operations]
    if any(one >= other for one, other in pairwise(sorts)) or not all(each.operations for each in said.operations):
        yield contradiction(verdict, say("the operations of its facts are not in order"))
    exact = said.exact_bits is not None
    if (exact and said.compute != "float32") or not all(_fits(each, said) for each in said.operations):
        yield contradiction(verdict, say("the operations of its facts have another precision than the order"))


def _fits(each: OperationCount, said: RunFacts) -> bool:
    if said.exact_bits is not None and each.kind in _PRODUCTS and each.precision != "integers":
        return each.precision == f"{said.exact_bits} bits"
    return each.precision in (said.compute, "integers")


def _wrong_data(verdict: Verdict, said: RunFacts) -> Broken:
    if any(one.name >= other.name for one, other in pairwise(said.data)):
        yield contradiction(verdict, say("the data of its facts are not in order"))
    if not all(_adds_up(use, said.steps * said.batch_size) for use in said.data):
        yield contradiction(verdict, say("its facts have rows that cannot have been read"))


def _adds_up(use: DataUse, named: int) -> bool:
    """Whether rows and elements go together; ``named`` is how many rows the steps of the run name."""
    return (
        bool(use.shape)
        and use.distinct_rows <= min(use.rows_read, use.shape[0])
        and bool(use.distinct_rows) == bool(use.rows_read)
        and use.elements_read == use.rows_read * math.prod(use.shape[1:])
        and use.rows_read + use.filling_rows <= named
    )
