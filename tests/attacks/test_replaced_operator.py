"""One operator of the program is replaced: by one of lower precision, by another function, or in the file."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from counterfoil_core.arithmetic.compute.operation import native
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.values.outcome import CheckNumber
from support.expectations import disputed, operator_of, refused
from support.jobs import replace_bytes
from support.malicious import Trainer


@dataclass
class LowPrecision(Trainer):
    """Computes the classifier's product in bfloat16, which is cheaper."""

    def operator(self, operation, args, kwargs):
        if self.acting and operation.node.module == "head" and operation.node.operator == "aten.addmm.default":
            return native(operation, [x.bfloat16() for x in args], kwargs).double()
        return native(operation, args, kwargs)


@dataclass
class OtherFunction(Trainer):
    """Puts a leaky rectifier in the place of one rectifier."""

    def operator(self, operation, args, kwargs):
        result = native(operation, args, kwargs)
        if self.acting and operation.node.operator == "aten.relu.default" and operation.node.module == "block1":
            return torch.where(args[0] < 0, args[0] * 2**-6, result)
        return result


def test_lower_precision(simulate, digits_job):
    result = disputed(simulate(LowPrecision(step=3)), digits_job.order, 3)
    assert operator_of(result) == ("aten.addmm.default", "head", "forward")


def test_another_function(simulate, digits_job):
    result = disputed(simulate(OtherFunction(step=3)), digits_job.order, 3)
    # A rectifier is exact, but its gradient asks which results are above zero, so it has a fingerprint.
    assert operator_of(result) == ("aten.relu.default", "block1", "forward")


def test_the_program_of_the_order_is_edited(forge, digits_job):
    def edit(run):
        with BundleReader.open(run) as reader:
            program = reader.program()
        assert b"aten.relu.default" in program
        replace_bytes(run, "/order/program", program.replace(b"aten.relu.default", b"aten.abs.default", 1))

    refused(forge(edit), digits_job.order, CheckNumber.ORDER_CONTENTS, "program")
