"""Whole jobs of the command line that the window offers: which command each is, and what is asked for it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QSettings

from counterfoil import CancelToken, CommandEnded, CommandForm, CommandOption, CommandProgress, command_form
from counterfoil_app.engine.port import Engine
from counterfoil_app.model.orders import CommandRun

YES = "yes"


@dataclass(frozen=True)
class Job:
    """A job: a command, or several of which one is chosen."""

    name: str  #: What the code calls it.
    commands: Mapping[str, str]  #: What of each command is asked, by the names of its options.
    needed: tuple[str, ...] = ()  #: What the command could do without, and the job cannot.
    endings: Mapping[str, str] = field(default_factory=dict)  #: How what each command writes is called, by its end.


_SUMMARY = "verdict key out verdict_key"
JOBS = (
    Job("sign_order", {"sign-order": "order key out"}),
    Job(
        "merge",
        {"merge": "parts run order trainer_key verdict key recheck device"},
        ("verdict", "key"),
        {"merge": ".verdict.json"},
    ),
    Job("calibrate", {"calibrate": "order steps data device out"}, ("out",), {"calibrate": ".calibrated.cfoil"}),
    Job(
        "export",
        {
            "export weights": "run step average safetensors",
            "export csv": "run out",
            "export tensorboard": "run out",
            "export model-card": "verdict key out",
            "export svr": _SUMMARY,
            "export vsa": _SUMMARY,
        },
        ("out",),
        {
            "export weights": "-model",
            "export csv": ".curves.csv",
            "export tensorboard": "-tensorboard",
            "export model-card": ".md",
            "export svr": ".svr.sigstore.json",
            "export vsa": ".vsa.sigstore.json",
        },
    ),
    Job("note", {"note": "order says weights data key out"}, endings={"note": ".note.json"}),
    Job("withdraw", {"withdraw": "verdict reason superseded_by key out"}, endings={"withdraw": ".withdrawal.json"}),
    Job("reply", {"reply": "verdict text key out"}, ("text",), {"reply": ".reply.json"}),
    Job("revoke", {"revoke": "keys reason compromised since list_ key out"}, endings={"revoke": ".revoked.json"}),
    Job("witness_check", {"witness check": "log runs key trainer_key verdict auditor_key"}),
    Job("check_answer", {"check-answer": "answer folder question key device"}),
    Job("verify", {"verify": "file against key trainer_key"}),
)
"""All of them."""


class JobPlan:
    """What is asked for a job.

    Args:
        job: The job.
        store: Remembers which private key signed the last one.
        given: What is known of what is open, by the names of options.
    """

    def __init__(self, job: Job, store: QSettings, given: Mapping[str, str]) -> None:
        self.job = job
        self._store = store
        self._given = given
        self._values: dict[str, str] = {}
        self._typed: set[str] = set()
        self.choose(next(iter(job.commands)))

    def choose(self, command: str) -> None:
        """Do it by another of its commands."""
        self.command = command
        self.form: CommandForm = command_form(tuple(command.split()))
        shown = {option.name: option for option in self.form.options}
        asked = [shown[name] for name in self.job.commands[command].split()]
        needed = self.job.needed
        self.options: tuple[CommandOption, ...] = tuple(
            replace(one, required=one.required or one.name in needed) for one in asked
        )
        for option in self.options:
            known = self._given.get(option.name, "")
            if known and (option.kind in ("file", "files") or option.name == "device"):
                self._values.setdefault(option.name, shlex.quote(known) if option.kind == "files" else known)
            kept = self._store.value(f"jobs/{command}/{option.name}") if option.kind == "key" else None
            if isinstance(kept, str) and os.path.isfile(kept):
                self._values.setdefault(option.name, kept)
        self.propose()

    def value(self, name: str) -> str:
        """What an option is: what was typed, or its default."""
        option = self.form.option(name)
        return self._values.get(name, "" if option is None else option.default)

    def set(self, name: str, text: str) -> None:
        """Take what was typed."""
        self._values[name] = text
        self._typed.add(name)

    def propose(self) -> str:
        """Name what is written after what is read, unless it was typed; returns the option, empty where nothing was."""
        ending = self.job.endings.get(self.command, "")
        read = next((self._paths(one) for one in self.options if one.kind in ("file", "files")), [])
        target = next((one.name for one in self.options if one.kind == "target"), "")
        if not (ending and target and read and read[0].name) or target in self._typed:
            return ""
        self._values[target] = str(read[0].with_name(f"{read[0].stem.removesuffix('.pub')}{ending}"))
        return target

    @property
    def missing(self) -> CommandOption | None:
        """The first option that must be said and is not; None where nothing lacks."""
        return next((one for one in self.options if one.required and not self.value(one.name).strip()), None)

    @property
    def key(self) -> Path | None:
        """The key that it is signed with; None where none is named."""
        named = (self.value(one.name).strip() for one in self.options if one.kind == "key")
        return next((Path(text).expanduser() for text in named if text), None)

    @property
    def targets(self) -> list[Path]:
        """The files that are written."""
        return [path for one in self.options if one.kind == "target" for path in self._paths(one)]

    def arguments(self, *, replaces: bool = False, trust: Path | None = None) -> tuple[str, ...]:
        """The command and its arguments; raises DataError.

        Args:
            replaces: Whether what is there is replaced.
            trust: The folder of whom the user trusts, where the command reads one.
        """
        values = {one.name: self._spelt(one) for one in self.options}
        if replaces and self.form.option("force") is not None:
            values["force"] = YES
        if trust is not None and self.form.option("trust") is not None:
            values["trust"] = str(trust)
        return self.form.arguments(values)

    def remember(self) -> None:
        """Keep where the private key lies for the next time."""
        for option in self.options:
            if option.kind == "key" and self.value(option.name):
                self._store.setValue(f"jobs/{self.command}/{option.name}", self.value(option.name))

    def _paths(self, option: CommandOption) -> list[Path]:
        text = self.value(option.name).strip()
        try:
            named = shlex.split(text) if option.kind == "files" else [text]
        except ValueError:  # the command says so
            return []
        return [Path(name).expanduser() for name in named if name]

    def _spelt(self, option: CommandOption) -> str:
        text = self.value(option.name)
        if option.kind == "files":
            return text
        if option.kind in ("file", "folder", "key", "target") and text.strip() and not text.startswith("pkcs11:"):
            return str(Path(text.strip()).expanduser().absolute())
        return text


class JobRun(CommandRun):
    """Carries out a job in a process of its own."""

    def carry_out(self, arguments: tuple[str, ...], passphrase: str | None) -> None:
        """Begin; :attr:`changed` follows, several times."""
        self.begin(partial(_events, arguments, passphrase))

    @property
    def result(self) -> CommandEnded | None:
        """How it ended; None until it has."""
        return self.ended if isinstance(self.ended, CommandEnded) else None


def _events(
    arguments: tuple[str, ...], passphrase: str | None, engine: Engine, cancel: CancelToken
) -> Iterator[CommandProgress | CommandEnded]:
    return engine.run_command(arguments, passphrase, cancel)
