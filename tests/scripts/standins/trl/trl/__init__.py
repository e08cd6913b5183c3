"""Stands for an earlier version of a library, of which a script imports classes for other ways to train."""

__version__ = "0.24.0"


class AutoModelForCausalLMWithValueHead:
    pass


class PreTrainedModelWrapper:
    pass


class DPOTrainer:
    pass


class KTOTrainer:
    pass


class PPOConfig:
    pass


class PPOTrainer:
    pass
