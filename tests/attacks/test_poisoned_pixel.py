"""One pixel of one image is another one: the first convolution differs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from support.expectations import disputed, operator_of
from support.malicious import Trainer


@dataclass
class Poisoner(Trainer):
    def inputs(self, inputs):
        if not self.acting:
            return inputs
        images = inputs.batch["images"].clone()
        images[2, 4, 4] = 15 - images[2, 4, 4]
        return replace(inputs, batch={**inputs.batch, "images": images})


def test_one_pixel(simulate, digits_job):
    result = disputed(simulate(Poisoner(step=3)), digits_job.order, 3)
    assert operator_of(result) == ("aten.convolution.default", "stem", "forward")
