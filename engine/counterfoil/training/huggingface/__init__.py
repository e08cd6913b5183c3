"""Fine-tuning of Hugging Face models out of local folders; the libraries are of the extra ``hf``."""

from counterfoil.training.finetuning import Scheduler, Task
from counterfoil.training.huggingface.lora import Lora, parse_lora
from counterfoil.training.huggingface.order import (
    FineTuning,
    Prepared,
    order_huggingface,
    prepare_huggingface,
)
from counterfoil.training.stages import Preparing

__all__ = [
    "FineTuning",
    "Lora",
    "Prepared",
    "Preparing",
    "Scheduler",
    "Task",
    "order_huggingface",
    "parse_lora",
    "prepare_huggingface",
]
