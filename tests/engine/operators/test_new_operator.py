"""A new elementwise operator is declared in its family's folder, and everybody else reads it there."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from counterfoil_core.base.errors import CounterfoilError
from support.jobs import draw, own_order

TESTS = Path(__file__).parents[2]
DECLARED = """
import sys
from pathlib import Path

from counterfoil_core.operators.bounds import FUNCTION, constant
from counterfoil_core.operators.facts import Trait, rounded_operators
from counterfoil_core.operators.pointwise import facts

facts.FACTS += tuple(rounded_operators("output", constant(FUNCTION), "erfinv.default", Trait.LAST_BIT))

import numpy as np
import torch
from torch import nn

from counterfoil_core.base.precision import Precision
from counterfoil_core.arithmetic.grid.margin import kinds_without_bound
from counterfoil.signing.privatekeys import key_from_seed
from support.jobs import audited, draw, own_order, record_job

x = np.clip(draw((16, 4), 1), -0.9, 0.9).astype(np.float32)
loss = lambda model, batch: model(torch.erfinv(batch["x"])).square().mean()
order = own_order(nn.Linear(4, 1), loss, {"x": x}, steps=2)
(program,) = order.programs.all
assert "erfinv" in {site.kind for site in program.sites}
assert kinds_without_bound(program, Precision()) == ()
job = record_job(Path(sys.argv[1]), order, key_from_seed(bytes(32)))
print(audited(job.run, job.order, perturbation="jitter-1").report.outcome.value)
"""


def test_one_declaration_lets_an_operator_be_captured_rounded_logged_and_audited(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", DECLARED, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(TESTS)},
    )
    assert "VERIFIED" in done.stdout.upper(), done.stderr


def test_control_without_it_the_operator_is_refused_by_name() -> None:
    x = np.clip(draw((16, 4), 1), -0.9, 0.9).astype(np.float32)
    with pytest.raises(CounterfoilError, match="erfinv"):
        own_order(nn.Linear(4, 1), lambda model, batch: model(torch.erfinv(batch["x"])).mean(), {"x": x}, steps=2)
