"""What the window calls the jobs of the command line, and what is asked for them."""

from __future__ import annotations

from collections.abc import Mapping

from counterfoil import CommandForm
from counterfoil_app.looks import order_words
from counterfoil_app.looks.engine_words import translate
from counterfoil_app.looks.language import texts
from counterfoil_core.base.sentence import Sentence

_tr = texts("job_words")


def titles() -> Mapping[str, str]:
    """What each job is called in a menu, by its name."""
    return {
        "sign_order": _tr("&Sign an order\u2026"),
        "merge": _tr("Merge pa&rts of a replay\u2026"),
        "calibrate": _tr("&Calibrate an order\u2026"),
        "export": _tr("&Export for others\u2026"),
        "note": _tr("&Note on data\u2026"),
        "withdraw": _tr("&Withdraw a verdict\u2026"),
        "reply": _tr("&Reply to a verdict\u2026"),
        "revoke": _tr("Re&voke keys\u2026"),
        "witness_check": _tr("Check a w&itness\u2026"),
        "check_answer": _tr("Check an ans&wer\u2026"),
        "verify": _tr("Verify a statement\u2026"),
    }


def command(name: str) -> str:
    """What a command of a job is called, where one of several is chosen."""
    return {
        "export weights": _tr("Weights (safetensors)"),
        "export csv": _tr("Curves, as a table"),
        "export tensorboard": _tr("Curves, for TensorBoard"),
        "export model-card": _tr("A verdict, for a model card"),
        "export svr": _tr("A verdict, as in-toto SVR"),
        "export vsa": _tr("A verdict, as SLSA VSA"),
    }.get(name, name)


def about(form: CommandForm) -> str:
    """What a command does, as the command line says it, in the language of the window."""
    return translate(Sentence(form.about, ()))


def labels() -> Mapping[str, str]:
    """The names of what is asked for jobs, by what the code calls it, where an order's have none or another."""
    return {
        "against": _tr("What it is about"),
        "answer": _tr("Answer"),
        "auditor_key": _tr("Auditors' public keys"),
        "average": _tr("The average of the weights"),
        "compromised": _tr("Somebody else may have them"),
        "device": _tr("Device"),
        "file": _tr("Statement"),
        "folder": _tr("Folder of the model"),
        "key": _tr("Key"),
        "keys": _tr("Keys that no longer count"),
        "list_": _tr("The list so far"),
        "log": _tr("Log of the witness"),
        "order": _tr("Order"),
        "out": _tr("Written to"),
        "parts": _tr("Parts"),
        "question": _tr("Question"),
        "reason": _tr("Why"),
        "recheck": _tr("Segments replayed here too"),
        "run": _tr("Run"),
        "runs": _tr("Runs"),
        "safetensors": _tr("Into the folder"),
        "says": _tr("How they were made"),
        "since": _tr("From when on"),
        "step": _tr("Step"),
        "steps": _tr("Steps to measure"),
        "superseded_by": _tr("Verdict in its place"),
        "text": _tr("What you say"),
        "trainer_key": _tr("Trainer's public key"),
        "verdict": _tr("Verdict"),
        "verdict_key": _tr("Auditor's public key"),
        "weights": _tr("Weights that made them"),
    }


def option(name: str) -> str:
    """What an option of a job is called."""
    return labels().get(name) or order_words.option(name)
