"""The curves of a run in the formats of the tools that draw them, and a model's digest as its tool has it."""

from __future__ import annotations

import csv
import json
import math
import shutil

import numpy as np
import pytest

from counterfoil.base.joberrors import WeightsError
from counterfoil.cli import main
from counterfoil.delivery.modelinbox import model_digest
from counterfoil.signing.privatekeys import generate_key
from counterfoil_core.base.digest import Digest
from counterfoil_core.base.errors import FileChangedError
from counterfoil_core.bundle.reader import BundleReader
from support.delivered import compared, delivered, exported


@pytest.fixture(scope="module")
def recorded(digits_job):
    with BundleReader.open(digits_job.run) as reader:
        return reader.losses(), reader.scalars(), reader.manifest.scalar_names


def test_a_table(digits_job, recorded, tmp_path):
    out = tmp_path / "curves.csv"
    assert main(["export", "csv", str(digits_job.run), "--out", str(out)]) == 0
    rows = list(csv.DictReader(out.open(newline="")))
    losses, scalars, names = recorded
    assert [float(row["loss"]) for row in rows] == losses.tolist()
    assert [[float(row[name]) for name in names] for row in rows] == scalars.tolist()
    assert [row["step"] for row in rows] == ["1", "2", "3", "4", "5", "6"]
    assert main(["export", "csv", str(digits_job.run), "--out", str(out)]) == 4  # it is not replaced unasked
    assert main(["export", "csv", str(digits_job.order), "--out", str(tmp_path / "none.csv")]) == 4


@pytest.mark.slow
def test_events_of_tensorboard(digits_job, recorded, tmp_path):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    assert main(["export", "tensorboard", str(digits_job.run), "--out", str(tmp_path / "logs")]) == 0
    found = accumulator.EventAccumulator(str(tmp_path / "logs"))
    found.Reload()
    scalars = found.Scalars("loss")
    assert [event.step for event in scalars] == [1, 2, 3, 4, 5, 6]
    assert [event.value for event in scalars] == recorded[0].astype(np.float32).tolist()


@pytest.mark.slow
def test_a_store_of_mlflow(digits_job, recorded, tmp_path):
    mlflow = pytest.importorskip("mlflow")
    folder = tmp_path / "mlruns"
    assert main(["export", "mlflow", str(digits_job.run), "--out", str(folder)]) == 0
    client = mlflow.MlflowClient(tracking_uri=folder.as_uri())
    (run,) = client.search_runs([client.get_experiment_by_name("counterfoil").experiment_id])
    history = sorted(client.get_metric_history(run.info.run_id, "loss"), key=lambda metric: metric.step)
    assert [metric.value for metric in history] == recorded[0].tolist()
    assert math.isclose(run.data.metrics["loss"], recorded[0][-1])
    assert len(run.data.params["run_root"]) == 64


@pytest.fixture(scope="module")
def model(digits_job, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "my-model"
    tensors = exported(digits_job.run, folder)
    (folder / "config.json").write_text("{}")
    (folder / "a").mkdir()
    (folder / "a" / "b.txt").write_text("b")
    (folder / "a.txt").write_text("a")
    (folder / "a-b").write_text("c")
    (folder / ".gitattributes").write_text("nothing")
    assert tensors
    return folder


def digest_of(folder, report=None):
    *_, digest = model_digest(folder, report)
    assert isinstance(digest, Digest)
    return digest


def test_a_verdict_names_the_delivered_model(digits_job, model, tmp_path, capsys):
    generate_key(tmp_path / "auditor.pem", None)
    verdict = tmp_path / "verdict.json"
    command = ["audit", str(digits_job.run), "--order", str(digits_job.order), "--verdict", str(verdict), "--force"]
    command += ["--key", str(tmp_path / "auditor.pem"), "--subject-model"]
    assert main([*command, str(model)]) == 0
    check = ["verify", str(verdict), "--key", str(tmp_path / "auditor.pub.pem"), "--json"]
    capsys.readouterr()
    assert main(check) == 0
    assert json.loads(capsys.readouterr().out)["model"] == ["my-model", digest_of(model).hex]
    # Other weights are no subject, and the audit is not lost.
    tensors = exported(digits_job.run, tmp_path / "e")
    name = next(iter(tensors))
    other = delivered(tmp_path / "other", tensors | {name: tensors[name] + 1})
    assert main([*command, str(other)]) == 0
    assert "does not name the model" in capsys.readouterr().out
    assert main(check) == 0
    assert json.loads(capsys.readouterr().out)["model"] is None


@pytest.mark.parametrize(
    "name",
    ["below/model.safetensors", "below/deeper/Model.SafeTensors", "onnx/model.onnx", "model.gguf", "old/weights.PT"],
)
def test_weights_that_nobody_compared_are_in_no_digest(digits_job, model, tmp_path, name):
    folder = tmp_path / "model"
    shutil.copytree(model, folder)
    assert digest_of(folder, compared(folder, digits_job.run)) == digest_of(model)
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes((folder / "model.safetensors").read_bytes())
    # A file that is said to be loaded by nobody is still none that was compared.
    with pytest.raises(WeightsError, match="weights that were compared with nothing"):
        digest_of(folder, compared(folder, digits_job.run, unused=[name]))


def test_weights_in_other_letters_are_looked_at(digits_job, model, tmp_path):
    """Where a name in other letters is the same name a library loads them."""
    folder = tmp_path / "model"
    shutil.copytree(model, folder)
    (folder / "other.SAFETENSORS").write_bytes((folder / "model.safetensors").read_bytes())
    with pytest.raises(WeightsError, match="Two files hold the tensor"):
        compared(folder, digits_job.run)


def test_no_model_in_a_verdict_on_segments_that_do_not_lead_to_it(digits_job, model, tmp_path, capsys):
    generate_key(tmp_path / "auditor.pem", None)
    command = ["audit", str(digits_job.run), "--verdict", str(tmp_path / "v.json"), "--force"]
    command += ["--key", str(tmp_path / "auditor.pem"), "--subject-model", str(model), "--segments"]
    check = ["verify", str(tmp_path / "v.json"), "--key", str(tmp_path / "auditor.pub.pem"), "--json"]
    for segments, named in (("1-1", False), ("3-3", True)):
        assert main([*command, segments]) == 0
        assert ("nobody replayed the segment that" in " ".join(capsys.readouterr().out.split())) is not named
        assert main(check) == 0
        assert (json.loads(capsys.readouterr().out)["model"] is not None) is named
    verdict = ["--verdict", str(tmp_path / "v.json"), "--key", str(tmp_path / "auditor.pub.pem")]
    for segments, code in (("1-1", 2), ("3-3", 0)):
        main([*command, segments])
        assert main(["verify-weights", str(model), str(digits_job.run), *verdict]) == code


def test_a_model_that_changes_behind_the_comparison(digits_job, model, tmp_path):
    report = compared(model, digits_job.run)
    assert digest_of(model, report) == digest_of(model)
    changed = tmp_path / "w"
    exported(digits_job.run, changed)
    report = compared(changed, digits_job.run)
    (changed / "model.safetensors").write_bytes(b"")
    with pytest.raises(FileChangedError):
        digest_of(changed, report)
    (changed / "link").symlink_to(model)
    with pytest.raises(WeightsError, match="neither a file nor a folder"):
        digest_of(changed)


@pytest.mark.slow
def test_the_digest_is_the_model_signing_tools(model):
    hashing = pytest.importorskip("model_signing.hashing")
    signing = pytest.importorskip("model_signing._signing.signing")
    payload = signing.Payload(hashing.hash(model))
    subject = payload.statement.pb.subject[0]
    assert (subject.name, subject.digest["sha256"]) == ("my-model", digest_of(model).hex)
