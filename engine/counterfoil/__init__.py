"""Counterfoil: find out whether the training you ordered is the training that happened.

This module exports the library's public names. They are imported on first use, so that ``import counterfoil`` is
cheap: torch alone takes seconds to import, and the window shows before that.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"

_EXPORTS = {
    "AuditFinished": "counterfoil.audit.events",
    "AuditReport": "counterfoil.audit.events",
    "AuditRequest": "counterfoil.audit.replay",
    "AuditStarted": "counterfoil.audit.events",
    "BundleSummary": "counterfoil.audit.summary",
    "CancelToken": "counterfoil.cancel",
    "Check": "counterfoil.audit.outcome",
    "CheckChanged": "counterfoil.audit.events",
    "CheckNumber": "counterfoil.audit.outcome",
    "CheckState": "counterfoil.audit.outcome",
    "CounterfoilError": "counterfoil.errors",
    "Device": "counterfoil.execution.devices",
    "Digest": "counterfoil.commit.digest",
    "Dispute": "counterfoil.audit.events",
    "DisputeLocated": "counterfoil.audit.events",
    "DivergenceMeasured": "counterfoil.audit.events",
    "Event": "counterfoil.audit.events",
    "Gpt2Size": "counterfoil.training.recipes.gpt2",
    "LabelFlip": "counterfoil.training.tamper",
    "OperatorDone": "counterfoil.audit.events",
    "OperatorRecorded": "counterfoil.training.recorder",
    "Outcome": "counterfoil.audit.outcome",
    "PublicKey": "counterfoil.signing",
    "RecordFinished": "counterfoil.training.recorder",
    "RecordStarted": "counterfoil.training.recorder",
    "ResumedFromCheckpoint": "counterfoil.audit.events",
    "SigningKey": "counterfoil.signing",
    "StepMatch": "counterfoil.audit.events",
    "StepRecorded": "counterfoil.training.recorder",
    "StepReplayed": "counterfoil.audit.events",
    "StepRow": "counterfoil.audit.events",
    "TensorDivergence": "counterfoil.audit.events",
    "Verdict": "counterfoil.audit.verdict",
    "check_bundle_file": "counterfoil.audit.verdict",
    "generate_key": "counterfoil.signing",
    "inspect": "counterfoil.audit.inspection",
    "list_devices": "counterfoil.execution.devices",
    "load_private_key": "counterfoil.signing",
    "load_public_key": "counterfoil.signing",
    "needs_passphrase": "counterfoil.signing",
    "order_digits": "counterfoil.training.recipes.digits",
    "order_gpt2": "counterfoil.training.recipes.gpt2",
    "record": "counterfoil.training.recorder",
    # Not "audit": once the subpackage of that name is imported, it stands there as an attribute.
    "run_audit": "counterfoil.audit.replay:audit",
    "sign_verdict": "counterfoil.audit.verdict",
    "verify_verdict": "counterfoil.audit.verdict",
    "write_steps_csv": "counterfoil.audit.table",
}

__all__ = sorted(_EXPORTS)


def __getattr__(name: str) -> Any:
    if name not in _EXPORTS:
        raise AttributeError(f"module 'counterfoil' has no attribute {name!r}")
    module, _, attribute = _EXPORTS[name].partition(":")
    value = getattr(importlib.import_module(module), attribute or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
