"""Scripts whose own loops are followed: each is recorded, and compared with what it does as it is."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from support.followed import followed, plain, recorded, write_script

_CLASSIFIER = """
    import torch
    from torch import nn
    from torch.nn import functional
    from torch.utils.data import DataLoader, TensorDataset

    torch.manual_seed(1)
    images, labels = torch.randn(22, 1, 6, 6), torch.randint(0, 5, (22,))
    loader = DataLoader(TensorDataset(images, labels), batch_size=8, shuffle=True, num_workers=2)
    checks = DataLoader(TensorDataset(images, labels), batch_size=11)
    model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(64, 5))
    optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.7)
    for epoch in range(2):
        model.train()
        for number, (x, y) in enumerate(loader):
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            print(f"{epoch} {number}: {loss.item():.4f}")
        model.eval()
        right = 0
        with torch.no_grad():
            for x, y in checks:
                right += model(x).argmax(1).eq(y).sum().item()
        print(f"{right} of {len(checks.dataset)}: {100.0 * right / len(checks.dataset):.1f} %")
        scheduler.step()
    torch.save(model.state_dict(), "model.pt")
"""


def test_a_classifier_is_trained_as_the_script_trains_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    script = write_script(tmp_path, _CLASSIFIER)
    made = followed(script)
    assert not (tmp_path / "model.pt").exists()
    assert any("model.pt was not written" in note for note in made.notes)
    # 8, 8 and 6 rows in each epoch, and a scheduler that moves on after each.
    assert made.draft.programs.pattern == ("p1", "p1", "p2")
    assert list(made.draft.rates[""]) == pytest.approx([1.0, 1.0, 1.0, 0.7, 0.7, 0.7])
    assert {name: array.shape for name, array in made.draft.data.items()} == {
        "input.1": (22, 1, 6, 6),
        "input.2": (22,),
    }
    run, own = recorded(made.draft, tmp_path), plain(script)
    assert run.losses == pytest.approx(own.losses, abs=1e-5)
    for name, tensor in own.names["model"].state_dict().items():
        torch.testing.assert_close(run.state[name], tensor, atol=2e-5, rtol=0)
