"""One pixel of one image is another one: the rows are not the ordered ones."""

from __future__ import annotations

from dataclasses import dataclass, replace

from support.expectations import disputed, inputs_of
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
    assert inputs_of(result) == ("images",)
