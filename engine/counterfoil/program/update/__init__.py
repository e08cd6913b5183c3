"""Optimizers as pure update rules, written in operators that are exact wherever the mathematics allows.

A rule computes new parameters and optimizer slots from old ones. Everything that depends on the step number alone
(learning rate, bias corrections) is a per-step scalar: computed once by the client, listed in the order, so that no
``pow`` or ``cos`` of the auditor's machine takes part.
"""

from counterfoil.program.update.adam import Adam, AdamW
from counterfoil.program.update.average import WeightAverage
from counterfoil.program.update.clipping import ClipBy, ClipByNorm, ClipByValue, clip_by_norm
from counterfoil.program.update.groups import ParameterGroup, ParameterGroups
from counterfoil.program.update.rule import AtSlot, UpdateRule
from counterfoil.program.update.rules import Adagrad, Lion, RmsProp, Sgd
from counterfoil.program.update.variants import Adadelta, Adamax, NAdam, RAdam

__all__ = [
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "AtSlot",
    "ClipBy",
    "ClipByNorm",
    "ClipByValue",
    "Lion",
    "NAdam",
    "ParameterGroup",
    "ParameterGroups",
    "RAdam",
    "RmsProp",
    "Sgd",
    "UpdateRule",
    "WeightAverage",
    "clip_by_norm",
]
