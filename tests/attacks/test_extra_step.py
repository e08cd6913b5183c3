"""A second step on the same batch, off the record."""

from __future__ import annotations

from dataclasses import dataclass, replace

from support.expectations import disputed, operator_of, tensors_of
from support.jobs import digits_order, record_job
from support.malicious import Trainer


@dataclass
class Eager(Trainer):
    def result(self, inputs, result, train):
        if not self.acting:
            return result
        return replace(result, state=train(replace(inputs, state=result.state)).state)


def test_extra(simulate, digits_job):
    result = disputed(simulate(Eager(step=4)), digits_job.order, 4, parts=("state",))
    assert operator_of(result) is None
    assert "bn.num_batches_tracked" in tensors_of(result)
    (counter,) = (t for t in result.report.dispute.tensors if t.name == "bn.num_batches_tracked")
    assert (counter.trainer, counter.replay) == (5, 4)


def test_between_sparse_commitments(simulate, tmp_path_factory, trainer_key):
    """Neither loss nor fingerprints of the step itself differ, so it is found where its state is first used."""
    draft = digits_order(commit_every=3, checkpoint_every=6)
    job = record_job(tmp_path_factory.mktemp("sparse"), draft, trainer_key)
    result = disputed(simulate(Eager(step=1), job), job.order, 2, parts=("loss", "fingerprints"))
    assert operator_of(result) == ("aten.convolution.default", "stem", "forward")
