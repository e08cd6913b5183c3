"""Are delivered weights the final state of a verified run? Tensor by tensor.

What is judged is what was hashed: the run's record is rebuilt up to the run root that the verdict names, each state
tensor is digested as it is compared, and these digests must make the state root in the leaf of the last step. The
weights are read block by block against digests made before their headers were looked at.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Generator, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field

from counterfoil.audit.values.delivery import (
    Basis,
    ComparedTensor,
    DeliveryOutcome,
    DeliveryProgress,
    DeliveryReport,
    Relation,
    WeightsFile,
)
from counterfoil.audit.values.filekind import BUNDLE_SUFFIX
from counterfoil.delivery.adapters import (
    Adapter,
    adapter_file_name,
    adapter_names,
    find_adapters,
    merged_name,
    merged_weight,
)
from counterfoil.delivery.comparison import compare_merge, compare_tensor, dtype_misfit
from counterfoil.delivery.module import saved_names, tied_names
from counterfoil.delivery.scored import ScoredWeights
from counterfoil.delivery.signedrecords import signed_records
from counterfoil.delivery.storedstate import StoredState
from counterfoil.delivery.weights import DeliveredWeights
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import DataError, SignatureError
from counterfoil_core.base.sentence import joined, say
from counterfoil_core.base.trouble import obstacles_noticed
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import StepRecord
from counterfoil_core.parties.signatures import need_run, recorded_subject
from counterfoil_core.program.graph import Program
from counterfoil_core.values.trust import TrainerTrust

DeliveryEvent = DeliveryProgress | DeliveryReport
"""What a comparison brings; the report comes last."""
MOST_NAMED = 1000
"""So many differing, missing or surplus tensors are named at most."""


Weights = DeliveredWeights | ScoredWeights
"""What is compared with a run: files of a model's, or what an evaluation scores."""


@dataclass
class _Found:
    """What the comparison found so far."""

    tied: tuple[str, ...]
    frozen: int
    compared: list[ComparedTensor] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    surplus: list[str] = field(default_factory=list)
    bound: float = 0.0

    @property
    def relations(self) -> Counter[Relation]:
        """How many tensors are as the run's, by how they are written."""
        return Counter(one.relation for one in self.compared if one.relation and not one.differing)


def verify_weights(
    weights: str | os.PathLike[str],
    run: str | os.PathLike[str],
    basis: Basis | None,
    *,
    prefix: str = "",
    average: bool = False,
    unused: Collection[str] = (),
    cancel: CancelToken | None = None,
) -> Iterator[DeliveryEvent]:
    """Compare delivered weights with the final state of a run.

    Args:
        weights: A safetensors file, or a folder of them; or an evaluation, a .cfoil file, whose weights are meant.
        run: The run.
        basis: What says that the run is verified; None when nobody does, so that nothing is concluded.
        prefix: What the run's names begin with and those of the files do not.
        average: Compare with the average of the weights that the order asks for.
        unused: Names of files in the folder, of weights in other formats, that nobody loads.
        cancel: Looked at between pieces of files.

    Yields:
        DeliveryProgress now and then; the DeliveryReport comes last.

    Raises:
        GivenFileError: A file is not there, or the run is an order that nobody has run.
        WeightsError: The weights are in no form that is read, or hostile.
        SignatureError: The basis is about another run.
        RefusedError: The run is damaged.
        DataError: The average is asked for, and there is none.
        ObstacleError: A file changed, or the system fails to read it.
        CancelledError: The token was cancelled.
    """
    with obstacles_noticed(), ExitStack() as stack:
        delivered = open_weights(weights, stack, unused)
        reader = stack.enter_context(BundleReader.open(run))
        need_run(reader)
        for done, total in delivered.settle(cancel):
            yield DeliveryProgress(say("Hashing the weights"), done, total)
        record, run_root = yield from _final_record(reader, basis, cancel)
        state = StoredState(reader, reader.extent.steps, cancel)
        found = yield from _compare_all(delivered, state, _names(delivered, state, prefix, average), cancel)
        state.check(record.state_root)
        yield _report(delivered, reader, run_root, basis, found)


def open_weights(path: str | os.PathLike[str], stack: ExitStack, unused: Collection[str] = ()) -> Weights:
    """Open what is to be compared with a run; raises as the two kinds do."""
    if os.fspath(path).endswith(BUNDLE_SUFFIX):
        return ScoredWeights(path, stack)
    return DeliveredWeights(path, stack, unused)


def _final_record(
    reader: BundleReader, basis: Basis | None, cancel: CancelToken | None
) -> Generator[DeliveryProgress, None, tuple[StepRecord, Digest]]:
    """The record of the last step, of the very run that the basis is about; without one, of the run that was signed."""
    yield DeliveryProgress(say("Hashing the record of the run"), 0, reader.extent.steps)
    if basis is None:
        records, about = signed_records(reader, cancel)
    else:
        records = reader.step_records(cancel)
        about = recorded_subject(reader, records)
        if different := basis.about.difference(about):
            raise SignatureError(
                say("The verdict is about another run than that in {0}: {1}.", reader.path.name, different),
                remedy=say("Give the run that the auditor judged."),
            )
    return records[-1], about.run_root


@dataclass(frozen=True)
class _Names:
    """Which delivered name stands for which state tensor."""

    wanted: Mapping[str, str]  #: Those that must be there.
    #: Those that may be there: what files of the module leave out, and second names of tied tensors.
    allowed: Mapping[str, str]
    adapters: Mapping[str, Adapter]  #: The adapters that were merged, by the state tensor that they adapt.
    tied: tuple[str, ...]  #: The second names that are there.
    frozen: int  #: How many tensors that training leaves as they were ordered need not be there, beside an adapter.


def _names(delivered: Weights, state: StoredState, prefix: str, average: bool) -> _Names:
    manifest = state.reader.manifest
    saved = saved_names(manifest, state.layout, average=average)
    named = {} if average else adapter_names(saved)
    programs = [Program.from_bytes(program) for program in state.reader.all_programs()]
    by_itself = _adapter_alone(delivered, saved, prefix)
    adapters = find_adapters(programs, named) if named and not by_itself else {}
    adapting = {name for adapter in adapters.values() for name in (adapter.a, adapter.b)}

    def called(name: str) -> str:
        if by_itself and name.removeprefix(prefix) not in delivered.tensors:
            name = adapter_file_name(name)
        return (merged_name(name, saved) if adapters else name).removeprefix(prefix)

    wanted = {called(name): of for name, of in saved.items() if of not in adapting}
    if len(wanted) != len(saved) - len(adapting):
        raise DataError(
            say("Without {0}, two tensors of the run have one name.", repr(prefix)),
            remedy=say("Give as --prefix what the names of the files lack."),
        )
    # An adapter is delivered without what it adapts, which the order holds. What training changes, the programs say:
    # an average of it has the slot's name, the tensor itself its own.
    updated = {name for program in programs for name in program.updates}
    changed = {called(name) for name, of in saved.items() if not updated.isdisjoint((name, of))}
    frozen = wanted.keys() - changed - delivered.tensors.keys() if by_itself else set()
    wanted = {name: of for name, of in wanted.items() if name not in frozen}
    unsaved = () if manifest.module is None else manifest.module.unsaved
    allowed = {called(name): name for name in unsaved if name in state.layout}
    tied, named_so = [], dict(wanted)
    for name, target in tied_names(manifest).items():
        second, first = called(name), called(target)
        if second in delivered.tensors and first in named_so:
            tied.append(second)
            # Any of the names will do; where several are there, all are compared.
            allowed[second] = named_so[first]
            if first not in delivered.tensors:
                wanted.pop(first, None)
    return _Names(wanted, allowed, adapters, tuple(tied), len(frozen))


def _adapter_alone(delivered: Weights, saved: Mapping[str, str], prefix: str) -> bool:
    """Whether parts of an adapter were delivered, under the names of the run or PEFT's: then it was not merged."""
    adapting = {name.removeprefix(prefix) for name in saved if ".lora_" in name}
    return not delivered.tensors.keys().isdisjoint(adapting | {adapter_file_name(name) for name in adapting})


def _compare_all(
    delivered: Weights, state: StoredState, names: _Names, cancel: CancelToken | None
) -> Generator[DeliveryProgress, None, _Found]:
    found = _Found(tied=names.tied, frozen=names.frozen)
    total = sum(tensor.elements for tensor in delivered.tensors.values())
    done = 0
    for name, tensor in delivered.tensors.items():
        if cancel is not None:
            cancel.check()
        of = names.wanted.get(name, names.allowed.get(name))
        if of is None:
            found.surplus.append(name)
        elif (odd := dtype_misfit(tensor, of, *state.layout[of])) is not None:
            found.compared.append(odd)
        elif of in names.adapters:
            adapter = names.adapters[of]
            exact, bound = merged_weight(state.take(of), state.take(adapter.a), state.take(adapter.b), adapter)
            one, widest = compare_merge(tensor, delivered.read(name), of, exact, bound)
            found.compared.append(one)
            found.bound = max(found.bound, widest)
        else:
            found.compared.append(compare_tensor(tensor, delivered.read(name), of, state.take(of)))
        done += tensor.elements
        yield DeliveryProgress(say("Comparing {0}", name), done, total)
    found.missing = sorted(name for name in names.wanted if name not in delivered.tensors)
    return found


def _conclude(
    found: _Found, basis: Basis | None, last: str, differing: int, *, right: bool
) -> tuple[DeliveryOutcome, str]:
    """Return what follows from a comparison, and from what is known of the run.

    Args:
        found: What the comparison found.
        basis: What a verdict says of the run; None where there is none.
        last: The last step of the run, and of how many ordered ones where it ended early.
        differing: How many tensors differ.
        right: Whether nothing differs, is missing or is too much.
    """
    if not right:
        return DeliveryOutcome.DIFFERENT, _differences(differing, found)
    if basis is None:
        return DeliveryOutcome.INCONCLUSIVE, say(
            "The weights are the final state of the run, after step {0}, and no verdict says that the run is verified.",
            last,
        )
    if basis.trust.trainer is TrainerTrust.AUDITOR:
        return DeliveryOutcome.INCONCLUSIVE, say(
            "The weights are the final state of the run, after step {0}, and only its trainer says that the run is "
            "verified.",
            last,
        )
    if not basis.reaches_end:
        return DeliveryOutcome.INCONCLUSIVE, say(
            "The weights are the final state of the run, after step {0}, but nobody replayed the segment that ends in "
            "it: what was verified of the run says nothing about them.",
            last,
        )
    same = found.relations
    how = (
        joined(
            *(say("{0} ({1})", relation.words, count) for relation, count in sorted(same.items(), key=_by_value)),
            between=", ",
        )
        if len(same) > 1
        else next(iter(same)).words
    )
    number = len(found.compared)
    sentence = (
        say(
            "What was delivered is all that training changed, in the final state of the verified run, after step "
            "{0}: {1} tensors, each {2}.",
            last,
            number,
            how,
        )
        if found.frozen
        else say(
            "The weights are the final state of the verified run, after step {0}: {1} tensors, each {2}.",
            last,
            number,
            how,
        )
    )
    return DeliveryOutcome.DELIVERED, sentence


def _report(
    delivered: Weights, reader: BundleReader, run_root: Digest, basis: Basis | None, found: _Found
) -> DeliveryReport:
    differing = sorted((one for one in found.compared if one.differing), key=lambda one: -one.largest)
    merged = [one for one in found.compared if one.relation and one.relation.value.startswith(Relation.MERGED.value)]
    right = not (differing or found.missing or found.surplus)
    warnings: tuple[str, ...] = basis.warnings if basis is not None else ()
    infinite = tuple(one.name for one in found.compared if one.infinite)
    if infinite:
        warnings += (
            say("Tensors with values that are infinite, since the smaller dtype ends before them: {0}.", len(infinite)),
        )
    if found.frozen:
        warnings += (
            say("Not delivered, since training leaves them as they were ordered, tensors: {0}.", found.frozen),
        )
    steps, ordered = reader.extent.steps, reader.manifest.steps
    last = str(steps) if steps == ordered else say("{0} of {1} ordered steps", steps, ordered)
    outcome, sentence = _conclude(found, basis, last, len(differing), right=right)
    return DeliveryReport(
        outcome=outcome,
        sentence=sentence,
        warnings=warnings,
        run_root=run_root,
        order_digest=reader.manifest.digest,
        step=steps,
        steps_ordered=ordered,
        trust=None if basis is None else basis.trust,
        trainer_key="" if basis is None else basis.trainer_key,
        client_key="" if basis is None else basis.client_key,
        headline="" if basis is None else basis.headline,
        key_id="" if basis is None else basis.key_id,
        files=tuple(WeightsFile(file.name, file.bytes, file.digest) for file in delivered.files),
        relations={relation.value: count for relation, count in sorted(found.relations.items(), key=_by_value)},
        tensors=len(delivered.tensors),
        elements=sum(tensor.elements for tensor in delivered.tensors.values()),
        differing=tuple(differing[:MOST_NAMED]),
        missing=tuple(found.missing[:MOST_NAMED]),
        surplus=tuple(found.surplus[:MOST_NAMED]),
        tied=found.tied,
        infinite=infinite[:MOST_NAMED],
        largest_merge=(max(one.largest for one in merged), found.bound) if merged else None,
        others=delivered.others[:MOST_NAMED],
        scored=delivered.model_root if isinstance(delivered, ScoredWeights) else None,
    )


def _by_value(item: tuple[Relation, int]) -> int:
    return list(Relation).index(item[0])


def _differences(differing: int, found: _Found) -> str:
    parts = (
        (differing, say("tensors that differ: {0}", differing)),
        (len(found.missing), say("missing: {0}", len(found.missing))),
        (len(found.surplus), say("not of the run: {0}", len(found.surplus))),
    )
    words = joined(*(text for count, text in parts if count), between=", ")
    return say("The weights are not the final state of the run; {0}.", words)
