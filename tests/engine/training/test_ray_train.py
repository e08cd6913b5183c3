"""Ray Train's TorchTrainer really run, where Ray is installed: its process group is joined."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from counterfoil_core.signing.claims import RunClaim
from counterfoil_core.signing.statements import open_said
from support.worlds import Worlds

pytest.importorskip("ray.train", reason="Ray Train is not installed (pip install 'ray[train]')")
pytestmark = pytest.mark.filterwarnings("ignore")


def train(config: dict[str, Any]) -> None:
    """What each worker does."""
    import torch.distributed as dist

    from counterfoil import record
    from counterfoil.signing.privatekeys import key_from_seed

    key = key_from_seed(bytes(32)) if dist.get_rank() == 0 else None
    events = list(record(config["order"], config["run"], key, threads=1))
    Path(config["said"], str(dist.get_rank())).write_text(type(events[-1]).__name__)
    assert dist.is_initialized(), "the process group is Ray's"


def test_a_torch_trainer_records_the_run_of_one_process(tmp_path) -> None:
    import ray
    from ray.train import RunConfig, ScalingConfig
    from ray.train.torch import TorchConfig, TorchTrainer

    from counterfoil_core.bundle.reader import BundleReader
    from engine.training.test_ranks import write_order

    order, run = write_order(tmp_path / "job.cfoil", 2), tmp_path / "run.cfoil"
    with Worlds() as worlds:
        (alone,) = worlds.record(1, order, tmp_path / "alone.cfoil")
    paths = {"PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1", "RAY_TRAIN_V2_ENABLED": "1"}
    ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False, runtime_env={"env_vars": paths})
    try:
        TorchTrainer(
            train,
            train_loop_config={"order": str(order), "run": str(run), "said": str(tmp_path)},
            scaling_config=ScalingConfig(num_workers=2),
            torch_config=TorchConfig(backend="gloo"),
            run_config=RunConfig(storage_path=str(tmp_path / "ray")),
        ).fit()
    finally:
        ray.shutdown()
    assert [(tmp_path / rank).read_text() for rank in "01"] == ["RecordFinished", "RankFinished"]
    with BundleReader.open(run) as reader:
        claim = open_said(RunClaim, reader.claim())
    assert claim.run_root.hex == alone.root
    assert dict(claim.environment)["ranks"] == "2"
