"""One token of one sequence is another one: the embedding differs first."""

from __future__ import annotations

from dataclasses import dataclass, replace

from support.expectations import disputed, operator_of
from support.malicious import Trainer


@dataclass
class Poisoner(Trainer):
    def inputs(self, inputs):
        if not self.acting:
            return inputs
        tokens = inputs.batch["tokens"].clone()
        tokens[1, 4] = (tokens[1, 4] + 1) % 50
        return replace(inputs, batch={**inputs.batch, "tokens": tokens})


def test_one_token(simulate, gpt2_job):
    run = simulate(Poisoner(step=3), gpt2_job)
    result = disputed(run, gpt2_job.order, 3)
    # The embedding only selects rows, so it is exact; the first layer norm is the first operator with a fingerprint.
    assert operator_of(result) == ("aten.native_layer_norm.default", "h.0.ln_1", "forward")
