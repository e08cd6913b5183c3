"""What the settings of a fine-tuning choose between; it loads quickly, since a command line lists the choices."""

from __future__ import annotations

from enum import StrEnum


class Task(StrEnum):
    """What a model is fine-tuned for."""

    CAUSAL_LM = "causal-lm"
    SEQ2SEQ = "seq2seq"
    """A model with an encoder and a decoder: text to text, or speech to text."""
    CLASSIFICATION = "classification"


class Scheduler(StrEnum):
    """How the learning rate goes on after the warm-up."""

    LINEAR = "linear"
    COSINE = "cosine"
    CONSTANT = "constant"
