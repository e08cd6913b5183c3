"""Weights are delivered that are not the final state of the verified run, or only look like it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
import torch

from counterfoil.audit.values.delivery import DeliveryOutcome
from counterfoil.base.joberrors import WeightsError
from counterfoil.cli import main
from counterfoil.cli.exits import show_error
from counterfoil.delivery.verification import verify_weights
from counterfoil.signing.privatekeys import generate_key, load_private_key
from counterfoil_core.base.errors import CommitmentError, CounterfoilError, FileChangedError
from counterfoil_core.bundle.steady import SteadyFile
from counterfoil_core.statement.verdict import sign_verdict
from support.bundles import change
from support.delivered import basis_for, compared, delivered, exported
from support.expectations import verified
from support.jobs import digits_order, record_job


@pytest.fixture(scope="module")
def honest(digits_job, tmp_path_factory):
    """The run's own weights; as a control they are found to be delivered."""
    folder = tmp_path_factory.mktemp("weights")
    tensors = exported(digits_job.run, folder)
    assert compared(folder, digits_job.run).outcome is DeliveryOutcome.DELIVERED
    return tensors


def _name(tensors):
    return next(name for name, tensor in tensors.items() if tensor.dim() > 1)


def test_one_bit(digits_job, honest, tmp_path):
    name = _name(honest)
    changed = honest[name].clone()
    changed.view(torch.int32).view(-1)[3] ^= 1
    report = compared(delivered(tmp_path / "w", honest | {name: changed}), digits_job.run)
    assert report.outcome is DeliveryOutcome.DIFFERENT
    (found,) = report.differing
    assert (found.name, found.differing, found.largest > 0) == (name, 1, True)
    assert found.delivered == changed[found.index].item() != found.run


def test_two_tensors_swapped(digits_job, honest, tmp_path):
    same = [name for name in honest if name.endswith("running_mean")][:2]
    swapped = honest | {same[0]: honest[same[1]], same[1]: honest[same[0]]}
    report = compared(delivered(tmp_path / "w", swapped), digits_job.run)
    assert {one.name for one in report.differing} == set(same)


def test_a_surplus_tensor_and_a_missing_one(digits_job, honest, tmp_path):
    tensors = honest | {"backdoor.weight": torch.ones(3)}
    # Nor may it be a copy of what was trained: what another name does, the code that loads it decides.
    tensors["copy.weight"] = honest[_name(honest)]
    missing = sorted(honest)[0]
    del tensors[missing]
    report = compared(delivered(tmp_path / "w", tensors), digits_job.run)
    assert report.outcome is DeliveryOutcome.DIFFERENT
    assert (report.surplus, report.missing) == (("backdoor.weight", "copy.weight"), (missing,))


def test_another_dtype(digits_job, honest, tmp_path):
    name = _name(honest)
    cut = (honest[name].view(torch.int32) & ~0xFFFF).view(torch.float32).to(torch.bfloat16)
    others = {
        "wider": honest[name].to(torch.float64),
        "cut off, not rounded": cut,
        "another shape": honest[name].reshape(-1),
        "an integer": honest[name].to(torch.int32),
    }
    for number, (what, tensor) in enumerate(others.items()):
        folder = delivered(tmp_path / f"w{number}", honest | {name: tensor})
        assert compared(folder, digits_job.run).outcome is DeliveryOutcome.DIFFERENT, what


def test_not_a_number(digits_job, honest, tmp_path):
    name = _name(honest)
    for dtype in (torch.float32, torch.bfloat16):
        tensor = honest[name].clone().to(dtype)
        tensor.view(-1)[0] = float("nan")
        report = compared(delivered(tmp_path / str(dtype), honest | {name: tensor}), digits_job.run)
        assert (report.outcome, report.differing[0].largest) == (DeliveryOutcome.DIFFERENT, float("inf"))


@pytest.fixture(scope="module")
def folder(digits_job, cheat_job, tmp_path_factory) -> Path:
    """Verdicts by several keys on several runs."""
    folder = tmp_path_factory.mktemp("verdicts")
    for name in ("auditor", "stranger"):
        generate_key(folder / f"{name}.pem", None)
    report = verified(digits_job.run, digits_job.order)
    for name in ("auditor", "stranger"):
        (folder / f"{name}.json").write_bytes(sign_verdict(report, load_private_key(folder / f"{name}.pem", None)))
    return folder


def _command(folder: Path, weights: Path, run: Path, verdict: str, key: str = "auditor") -> int:
    given = ["--verdict", str(folder / f"{verdict}.json"), "--key", str(folder / f"{key}.pub.pem")]
    return main(["verify-weights", str(weights), str(run), *given])


def test_another_key_another_run_and_no_verdict(digits_job, cheat_job, honest, folder, tmp_path, trainer_key, capsys):
    weights = delivered(tmp_path / "w", honest)
    assert _command(folder, weights, digits_job.run, "auditor") == 0
    assert "DELIVERED" in capsys.readouterr().out
    assert _command(folder, weights, digits_job.run, "stranger") == DeliveryOutcome.REFUSED.exit_code
    assert "does not hold" in capsys.readouterr().err
    # The cheat's own weights with the verdict on the honest run.
    cheat = tmp_path / "cheat"
    exported(cheat_job.run, cheat)
    assert _command(folder, cheat, cheat_job.run, "auditor") == DeliveryOutcome.REFUSED.exit_code
    assert "another run" in capsys.readouterr().err
    assert _command(folder, cheat, digits_job.run, "auditor") == DeliveryOutcome.DIFFERENT.exit_code
    # A run of another order with the same steps would have other names for its tensors, or another adapter's factor.
    other = record_job(tmp_path, digits_order(learning_rate=0.2), trainer_key)
    assert _command(folder, weights, other.run, "auditor") == DeliveryOutcome.REFUSED.exit_code
    assert main(["verify-weights", str(weights), str(digits_job.run)]) == DeliveryOutcome.INCONCLUSIVE.exit_code
    unsigned = ["verify-weights", str(weights), str(digits_job.run), "--verdict", str(folder / "stranger.json")]
    assert main(unsigned) == DeliveryOutcome.INCONCLUSIVE.exit_code


def test_a_final_state_that_is_not_the_leafs(copied_run, digits_job, honest, tmp_path):
    name = _name(honest)
    path = f"/run/checkpoints/{6:010d}/{name}"
    change(copied_run, path, lambda array: array + 1)
    weights = delivered(tmp_path / "w", honest | {name: honest[name] + 1})
    with pytest.raises(CommitmentError, match="differs from the state root of that step"):
        list(verify_weights(weights, copied_run, basis_for(digits_job.run)))


def test_weights_that_change_while_they_are_compared(digits_job, honest, tmp_path, monkeypatch):
    name = _name(honest)
    bad = delivered(tmp_path / "bad", honest | {name: honest[name] + 1}) / "model.safetensors"
    good = delivered(tmp_path / "good", honest) / "model.safetensors"
    settled = SteadyFile.settle

    def swapped(self, cancel=None):
        digest = yield from settled(self, cancel)
        if self.path == bad:
            with bad.open("r+b") as file:
                file.write(good.read_bytes())
        return digest

    assert compared(good.parent, digits_job.run).outcome is DeliveryOutcome.DELIVERED
    monkeypatch.setattr(SteadyFile, "settle", swapped)
    with pytest.raises(FileChangedError) as caught:
        compared(bad.parent, digits_job.run)
    assert show_error(caught.value) == DeliveryOutcome.INCONCLUSIVE.exit_code


def _header(path: Path, edit) -> None:
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    header = edit(json.loads(data[8 : 8 + length]))
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + data[8 + length :])


def _overlap(header):
    _, second = sorted((n for n in header if n != "__metadata__"), key=lambda n: header[n]["data_offsets"])[:2]
    begin, end = header[second]["data_offsets"]
    header[second]["data_offsets"] = [begin - 4, end - 4]
    return header


def _twice(header):
    name = next(n for n in header if n != "__metadata__")
    text = json.dumps(header)
    return (text[:-1] + f", {json.dumps(name)}: {json.dumps(header[name])}}}").encode()


def _shape(shape):
    def edit(header):
        header[next(n for n in header if n != "__metadata__")]["shape"] = shape
        return header

    return edit


HOSTILE = {
    "overlap": _overlap,
    "twice": _twice,
    "nested": lambda header: b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "endless number": lambda header: b'{"a":{"dtype":"F32","shape":[' + b"9" * 10_000 + b'],"data_offsets":[0,0]}}',
    "negative": _shape([-1]),
    "huge": _shape([2**62, 2**62]),
    "fraction": _shape([1.0]),
    "truth": _shape([True]),
    "no object": lambda header: b"[]",
    "unknown dtype": lambda header: json.dumps(header).replace("F32", "F99").encode(),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_header(digits_job, honest, tmp_path, name):
    path = delivered(tmp_path / "w", honest) / "model.safetensors"
    _header(path, lambda header: header)
    assert compared(path, digits_job.run).outcome is DeliveryOutcome.DELIVERED
    _header(path, HOSTILE[name])
    with pytest.raises(WeightsError, match="not a sound safetensors file"):
        compared(path, digits_job.run)


def test_a_header_longer_than_the_file_and_bytes_of_nobodys(digits_job, honest, tmp_path):
    path = delivered(tmp_path / "w", honest) / "model.safetensors"
    data = path.read_bytes()
    for junk in (b"", b"\xff" * 8, b"\xff" * 8 + data[8:], data + b"\0", data[:-1]):
        path.write_bytes(junk)
        with pytest.raises(WeightsError):
            compared(path, digits_job.run)


def test_a_pickle_and_a_tensor_in_two_files(digits_job, honest, tmp_path):
    folder = delivered(tmp_path / "w", honest)
    (folder / "pytorch_model.bin").write_bytes(b"")
    with pytest.raises(WeightsError, match="pickle"):
        compared(folder, digits_job.run)
    (folder / "pytorch_model.bin").unlink()
    shutil.copy(folder / "model.safetensors", folder / "other.safetensors")
    with pytest.raises(WeightsError, match="Two files hold the tensor"):
        compared(folder, digits_job.run)
    with pytest.raises(CounterfoilError, match="0 safetensors files"):
        compared(digits_job.run.parent, digits_job.run)


@pytest.mark.parametrize(
    "name", ["model.gguf", "flax_model.msgpack", "tf_model.h5", "MODEL.ONNX", "model.keras", "weights.npz", "m.tflite"]
)
def test_weights_in_another_format_beside_them(name, digits_job, honest, tmp_path):
    """A library may load them in place of those that were compared, whatever the letters of the name."""
    folder = delivered(tmp_path / "w", honest)
    (folder / name).write_bytes(b"")
    with pytest.raises(WeightsError, match="may hold other weights") as caught:
        compared(folder, digits_job.run)
    assert "--unused" in caught.value.remedy
    *_, report = verify_weights(folder, digits_job.run, None, unused=[name])
    assert report.outcome is not DeliveryOutcome.DIFFERENT
    assert name in report.others


@pytest.mark.parametrize("name", ["m.dill", "m.PT2", "m.nemo", "m.mar", "m.th"])
def test_pickles_by_other_names(name, digits_job, honest, tmp_path):
    folder = delivered(tmp_path / "w", honest)
    (folder / name).write_bytes(b"")
    with pytest.raises(WeightsError, match="pickle"):
        list(verify_weights(folder, digits_job.run, None, unused=[name]))
