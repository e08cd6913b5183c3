"""What the order wizard calls what can be ordered: forms, their options, and the pages."""

from __future__ import annotations

from collections.abc import Mapping

from counterfoil import CommandOption, CommandProgress
from counterfoil.training.stages import CAPTURING, COMPARING, FOLLOWING, RUNNING
from counterfoil_app.engine import strangers
from counterfoil_app.looks import text
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.looks.language import texts
from counterfoil_app.model.order_plan import FOLDER, Stage
from counterfoil_core.base.sentence import Sentence

_tr = texts("order_words")


def stage(value: Stage, *, own_code: bool = False) -> str:
    """What a page is called; ``own_code`` is for forms that run a client's own code, which says its data itself."""
    if own_code and value is Stage.DATA:
        return _tr("Code")
    return {
        Stage.WHAT: _tr("What is trained"),
        Stage.DATA: _tr("Data"),
        Stage.SETTINGS: _tr("Settings"),
        Stage.TRY: _tr("First step"),
        Stage.SAVE: _tr("Order"),
    }[value]


def form_title(name: str, about: str) -> str:
    """What a form is called, in a few words."""
    titles = {
        "digits-cnn": _tr("Handwritten digits"),
        "resnet": _tr("Images: residual network"),
        "vgg11": _tr("Images: VGG-11"),
        "logistic": _tr("Table: logistic regression"),
        "gpt2": _tr("Text: GPT-2"),
        "hf": _tr("Model folder: fine-tuning"),
        "evaluate": _tr("Model folder: what it scores"),
        "script": _tr("My training script"),
        "own": _tr("My own module"),
        "scoring-script": _tr("My evaluation script"),
    }
    return titles.get(name, about)


def form_about(name: str, about: str) -> str:
    """What a form orders, in a sentence or two."""
    sentences = {
        "digits-cnn": _tr("A small residual network on handwritten digits that come with Counterfoil: a first try."),
        "resnet": _tr("ResNet-18, 34 or 50 on CIFAR-10, MNIST or Fashion-MNIST, from a folder on this machine."),
        "vgg11": _tr("VGG-11 on CIFAR-10, or on other images of at least 32 by 32 pixels."),
        "logistic": _tr("Logistic regression on a table of yours, or on one that is made up."),
        "gpt2": _tr("A GPT-2 of any size on the text of a file, from random or from public weights."),
        "hf": _tr("A Hugging Face model out of a local folder, on texts, prompts or labels of yours."),
        "evaluate": _tr("What such a model, or the weights of a run, get right on data of yours. Nothing is trained."),
        "script": _tr("What a Python script of yours trains, with no changed line."),
        "own": _tr("A function of yours that returns a counterfoil.CustomJob or a counterfoil.Evaluation."),
        "scoring-script": _tr("What a Python script of yours counts, with no changed line. Nothing is trained."),
    }  # fmt: skip
    return sentences.get(name, about)


def option(name: str) -> str:
    """What an option is called."""
    return labels().get(name, name)


def labels() -> Mapping[str, str]:
    """The names of all options, by what the code calls them."""
    return {
        FOLDER: _tr("It runs in the folder"),
        "aggregate": _tr("Rule of aggregation"),
        "answer": _tr("Answers for the script"),
        "arguments": _tr("Arguments of the script"),
        "batch_size": _tr("Rows per step"),
        "buffers": _tr("Buffers of shares"),
        "checkpoint_every": _tr("Steps per checkpoint"),
        "clip_norm": _tr("Largest gradient norm"),
        "compare": _tr("Compared steps"),
        "columns": _tr("Names of columns"),
        "counts": _tr("Names of counts"),
        "commit_every": _tr("Steps per digest"),
        "context": _tr("Context"),
        "crop_padding": _tr("Random shift, pixels"),
        "data": _tr("Data"),
        "dropout": _tr("Dropout"),
        "epochs": _tr("Epochs"),
        "faulty": _tr("Faulty shares"),
        "features": _tr("Columns of the made-up table"),
        "flip": _tr("Mirror images at random"),
        "folder": _tr("Model folder"),
        "heads": _tr("Attention heads"),
        "last_checkpoint": _tr("Last checkpoint"),
        "layers": _tr("Layers"),
        "layout": _tr("Layout"),
        "learning_rate": _tr("Learning rate"),
        "length": _tr("Most tokens of a row"),
        "lora": _tr("Low-rank adapters"),
        "margins": _tr("Margins"),
        "max_steps": _tr("Most steps"),
        "micro_batches": _tr("Parts of a batch"),
        "model": _tr("Network"),
        "network": _tr("Network the first time"),
        "pack": _tr("Join texts to full rows"),
        "precision": _tr("Precision profile"),
        "recompute_activations": _tr("Activation checkpointing"),
        "row_leaves": _tr("Leaf for each row"),
        "rows": _tr("Rows"),
        "scheduler": _tr("Course of the rate"),
        "script": _tr("Script"),
        "second_look": _tr("Run the code a second time to compare"),
        "seed": _tr("Seed"),
        "sequence": _tr("Length of a sequence"),
        "shares": _tr("Shares of a step"),
        "size": _tr("Public size"),
        "source": _tr("Function"),
        "steps": _tr("Steps"),
        "stop_early_fall": _tr("Least fall of the loss"),
        "stop_early_patience": _tr("Stop early after"),
        "task": _tr("Task"),
        "text": _tr("Text file"),
        "tokenizer": _tr("Tokenizer"),
        "trial": _tr("Try the first step"),
        "warmup": _tr("Warm-up steps"),
        "weight_decay": _tr("Weight decay"),
        "weights": _tr("Initial weights"),
        "width": _tr("Width"),
        "worker_momentum": _tr("Momentum of a share"),
    }


def option_help(value: CommandOption) -> str:
    """What an option is for, as the command line says it, in the language of the window."""
    return translate(Sentence(value.help, ()))


def option_default(value: CommandOption) -> str:
    """What becomes of an option that is left empty."""
    return translate(Sentence(value.shown_default, ())) if value.shown_default else ""


def progress(value: CommandProgress | None, seconds_left: float | None) -> str:
    """How far an order is."""
    if value is None:
        return _tr("Starting\u2026")
    stages = {
        RUNNING: _tr("Running the script as it is"),
        FOLLOWING: _tr("Following the script"),
        COMPARING: _tr("Comparing the order with the script"),
        CAPTURING.stage: _tr("Capturing the step"),
        "First step": _tr("First step"),
        "Recomputation": _tr("Choosing what is computed again"),
    }
    name = stages.get(value.stage, strangers.sentence(value.stage))
    if not value.total:
        # A script is at its first run, and nobody knows yet how many steps it makes.
        return _tr("{0}: {1} so far").format(name, text.count(round(value.done))) if value.done else f"{name}\u2026"
    if seconds_left is None or seconds_left < 1:
        return _tr("{0}: {1} of {2}").format(name, text.count(round(value.done)), text.count(value.total))
    return _tr("{0}: {1} of {2}, about {3} left").format(
        name, text.count(round(value.done)), text.count(value.total), text.duration(seconds_left)
    )
