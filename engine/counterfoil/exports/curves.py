"""The curves of a run: its loss, its log and the order's per-step scalars, for the tools that draw them."""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from counterfoil.base.wholefiles import whole_file
from counterfoil_core.base.cancel import CancelToken
from counterfoil_core.base.errors import CommitmentError, DataError
from counterfoil_core.base.timestamps import read_timestamp
from counterfoil_core.base.trouble import obstacles_noticed
from counterfoil_core.bundle.reader import BundleReader
from counterfoil_core.bundle.schema import run_tree
from counterfoil_core.parties.signatures import check_claim, need_run
from counterfoil_core.signing.claims import RunClaim

ROWS_AT_ONCE = 1000


@dataclass(frozen=True)
class Curves:
    """What a run recorded of its steps."""

    title: str  #: The client's name for the job.
    facts: Mapping[str, str]  #: Names and texts that tell the run: order, run root, seed and so on.
    columns: Mapping[str, NDArray[np.float64]]  #: float64 ``[steps]`` by name; row s - 1 is of step s.
    signed_at: datetime  #: When the trainer signed.

    @property
    def steps(self) -> int:
        """Number of steps."""
        return len(self.columns["loss"])


def read_curves(run: str | os.PathLike[str], cancel: CancelToken | None = None) -> Curves:
    """Read the curves of a run; they are compared with what its trainer signed.

    Raises:
        GivenFileError: There is no such file, or nobody has run the order.
        RefusedError: The run is damaged, or not what was signed.
        CancelledError: The token was cancelled.
    """
    with obstacles_noticed(), BundleReader.open(run) as reader:
        need_run(reader)
        claim = check_claim(reader.claim(), reader.manifest, None, reader.extent.steps)
        if run_tree(reader.step_records(cancel)).root != claim.run_root:
            raise CommitmentError("The steps of the run are not those that its trainer signed.")
        scalars = reader.scalars()[: reader.extent.steps]
        columns = {"loss": reader.losses()}
        columns |= {name: scalars[:, column] for column, name in enumerate(reader.manifest.scalar_names)}
        columns |= {"log_bytes": reader.log_sizes().astype(np.float64)}
        return Curves(reader.manifest.title, _facts(reader, claim), columns, read_timestamp(claim.signed_at))


def _facts(reader: BundleReader, claim: RunClaim) -> dict[str, str]:
    manifest = reader.manifest
    return {
        "order": manifest.digest.hex,
        "run_root": claim.run_root.hex,
        "recipe": manifest.recipe,
        "optimizer": manifest.optimizer,
        "precision": manifest.precision.describe(),
        "seed": str(manifest.seed),
        "steps": str(reader.extent.steps),
        **({"steps_ordered": str(manifest.steps)} if reader.extent.steps < manifest.steps else {}),
        "batch_size": str(manifest.batch_size),
    }


def write_csv(curves: Curves, path: str | os.PathLike[str]) -> None:
    """Write one line for each step under a line of names; numbers read back exactly (RFC 4180).

    Raises:
        FileWriteError: The file cannot be written.
    """
    with whole_file(path, what="the curves") as file:
        file.write(_line(["step", *curves.columns]))
        for step, row in enumerate(zip(*curves.columns.values(), strict=True), 1):
            file.write(_line([step, *(repr(float(value)) for value in row)]))


def _line(values: list[Any]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerow(values)
    return text.getvalue().encode()


def write_tensorboard(curves: Curves, folder: Path) -> Iterator[int]:
    """Write an event file for TensorBoard, whose numbers are float32; yields the steps done.

    Raises:
        DataError: The package is not installed.
    """
    try:
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary
        from tensorboard.summary.writer.event_file_writer import EventFileWriter
    except ImportError as error:
        raise _missing("tensorboard") from error
    writer = EventFileWriter(str(folder))
    moment = curves.signed_at.timestamp()
    try:
        for step, row in enumerate(zip(*curves.columns.values(), strict=True), 1):
            values = [
                Summary.Value(tag=name, simple_value=float(value))
                for name, value in zip(curves.columns, row, strict=True)
            ]
            writer.add_event(Event(wall_time=moment, step=step, summary=Summary(value=values)))
            if step % ROWS_AT_ONCE == 0:
                yield step
    finally:
        writer.close()
    yield curves.steps


def write_mlflow(curves: Curves, folder: Path) -> Iterator[int]:
    """Write a run into MLflow's store of a folder; yields the steps done.

    Raises:
        DataError: The package is not installed, or will not write there.
    """
    # MLflow asks for this before it writes a folder rather than a database.
    os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")
    try:
        from mlflow import MlflowClient
        from mlflow.entities import Metric, Param, RunTag
        from mlflow.exceptions import MlflowException
    except ImportError as error:
        raise _missing("mlflow") from error
    moment = int(1000 * curves.signed_at.timestamp())
    try:
        client = MlflowClient(tracking_uri=folder.resolve().as_uri())
        experiment = client.get_experiment_by_name("counterfoil")
        number = experiment.experiment_id if experiment is not None else client.create_experiment("counterfoil")
        run = client.create_run(number, start_time=moment, run_name=curves.title or "run")
        tags = [RunTag("mlflow.source.name", "counterfoil"), RunTag("mlflow.note.content", curves.title)]
        client.log_batch(
            run.info.run_id, params=[Param(name, text[:500]) for name, text in curves.facts.items()], tags=tags
        )
        for first in range(0, curves.steps, ROWS_AT_ONCE):
            for name, column in curves.columns.items():
                rows = enumerate(column[first : first + ROWS_AT_ONCE].tolist(), first + 1)
                # Its stores know no infinite numbers and none that are not numbers.
                metrics = [Metric(name, value, moment, step) for step, value in rows if math.isfinite(value)]
                client.log_batch(run.info.run_id, metrics=metrics)
            yield min(first + ROWS_AT_ONCE, curves.steps)
        client.set_terminated(run.info.run_id, end_time=moment)
    except MlflowException as error:
        raise DataError(f"MLflow does not write to {folder}: {error}.", remedy="Choose another folder.") from error


def _missing(package: str) -> DataError:
    return DataError(
        f"The package {package} is not installed.", remedy="Install it: pip install 'counterfoil[formats]'."
    )
