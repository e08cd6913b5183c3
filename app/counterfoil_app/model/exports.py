"""Files that the worker makes and writes for the window."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from counterfoil import AuditReport, CounterfoilError, StepTable, write_whole
from counterfoil.base.wholefiles import check_apart
from counterfoil.sealed.recipients import read_recipients
from counterfoil.sealed.seal import seal_file
from counterfoil.sealed.unseal import private_folder
from counterfoil_app.engine.port import Engine
from counterfoil_app.engine.worker import Failure, JobResult, Submit
from counterfoil_app.model.replayresult import VerdictMaterial
from counterfoil_core.base.sentence import say


class Exports(QObject):
    """Writes in the worker thread; after each call :attr:`finished` or :attr:`failed` follows.

    Args:
        engine: Knows the formats.
        submit: Lets the worker run something.
        reads: The files that are open: nothing is written over them.
    """

    signed = Signal(AuditReport, Path)
    """A report, and where its signed verdict lies; comes before :attr:`finished`."""
    capsule_written = Signal(AuditReport, Path)
    """A report, and where the capsule of its dispute lies; comes before :attr:`finished`."""
    finished = Signal(Path)
    failed = Signal(Failure)

    def __init__(
        self, engine: Engine, submit: Submit, reads: Callable[[], tuple[Path, ...]], parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._engine = engine
        self._submit = submit
        self.reads = reads

    def verdict(
        self,
        material: VerdictMaterial,
        write: Callable[[Engine, VerdictMaterial], Path],
        done: Callable[[Failure | None], None] | None = None,
    ) -> None:
        """Sign a report and write the verdict.

        Args:
            material: What the verdict is made from.
            write: Signs and writes, and returns where the signed verdict lies; called from the worker thread.
            done: Gets to know that it is over, and why it failed if it did; then :attr:`failed` does not tell of it.
        """
        self._submit(partial(write, self._engine, material), partial(self._signed, material.report, done))

    def table(self, steps: StepTable, target: Path) -> None:
        """Write the replayed steps as CSV."""
        self._write(target, partial(self._engine.write_steps, steps, target))

    def capsule(
        self, report: AuditReport, target: Path, kept: Path | None = None, judges: tuple[Path, ...] = ()
    ) -> None:
        """Write the dispute capsule of a report.

        Args:
            report: What was found.
            target: Where it goes.
            kept: A capsule of it that lies here; without one it is made of the evidence.
            judges: Files of public sealing keys; where there are some, it is sealed for these judges.
        """
        write = partial(_write_sealed if judges else _write_capsule, self._engine, report, target, kept)
        if judges:
            write = partial(write, judges=judges)
        self._write(target, write, partial(self.capsule_written.emit, report, target))

    def contents(self, target: Path, contents: Callable[[], bytes]) -> None:
        """Make and write a file."""
        self._write(target, partial(_write_contents, target, contents))

    def _write(self, target: Path, write: Callable[[], object], written: Callable[[], object] = lambda: None) -> None:
        inputs = self.reads()

        def checked() -> Path:
            check_apart([target], inputs)
            write()
            return target

        def tell(result: JobResult) -> None:
            if result.failure is None:
                written()
            self._written(result)

        self._submit(checked, tell)

    def _signed(self, report: AuditReport, done: Callable[[Failure | None], None] | None, result: JobResult) -> None:
        if result.failure is None and isinstance(result.value, Path):
            self.signed.emit(report, result.value)
        if done is not None:
            done(result.failure)
        if done is None or result.failure is None:
            self._written(result)

    def _written(self, result: JobResult) -> None:
        if result.failure is not None:
            self.failed.emit(result.failure)
        else:
            self.finished.emit(result.value)


# In the worker thread


def _write_contents(target: Path, contents: Callable[[], bytes]) -> None:
    write_whole(target, contents(), what=say("the file"))


def _write_sealed(
    engine: Engine, report: AuditReport, target: Path, kept: Path | None, *, judges: tuple[Path, ...]
) -> None:
    recipients = read_recipients(judges)
    with private_folder() as folder:
        plain = kept
        if plain is None or not plain.is_file():
            plain = folder / "dispute.cfoil"
            engine.write_capsule(report, plain)
        seal_file(plain, target, recipients)


def _write_capsule(engine: Engine, report: AuditReport, target: Path, kept: Path | None) -> None:
    if kept is None or not kept.is_file():
        engine.write_capsule(report, target)
        return
    try:
        write_whole(target, kept.read_bytes(), what=say("the dispute capsule"))
    except OSError as error:
        raise CounterfoilError(say("{0} cannot be read: {1}.", kept, error.strerror or error)) from error
