"""A signed log that cannot be read. Without the log the step cannot be replayed: nobody is accused."""

from __future__ import annotations

import numpy as np
import pytest

from counterfoil.audit.outcome import Outcome
from support.bundles import change
from support.jobs import audited


@pytest.mark.parametrize(("place", "value"), [(0, 99), (1, 255)], ids=["version", "number"])
def test_refused(forge, digits_job, place, value):
    run = forge(lambda run: change(run, "/run/log", lambda log: np.where(np.arange(len(log)) == place, value, log)))
    report = audited(run, digits_job.order).report
    assert report.outcome is Outcome.REFUSED
    assert "rounding log of step 1" in report.reason
