"""Graph networks of torch_geometric, recurrent networks, losses, and a step of reinforcement learning."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from support.public_models.entry import Array, Entry, Made, classes, normal

_NODES, _EDGES, _FEATURES, _LABELS = 12, 30, 6, 3


def _graph(layer: str, **settings: Any) -> Callable[[], Made]:
    def make() -> Made:
        import torch_geometric.nn as graphs

        class Network(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                kind = getattr(graphs, layer)
                self.first = _layer(kind, _FEATURES, 8, **settings)
                self.second = _layer(kind, 8, _LABELS, **settings)
                self.edges = torch.from_numpy(np.random.default_rng(0).integers(0, _NODES, (2, _EDGES)))

            def forward(self, x: Tensor) -> Tensor:
                x = functional.dropout(self.first(x, self.edges).relu(), training=self.training)
                return self.second(x, self.edges)  # type: ignore[no-any-return]

        data = {"x": normal(_NODES, _FEATURES), "labels": classes(_NODES, _LABELS)}
        return Made(Network().train(), _classify, data)

    return make


def _layer(kind: Any, inputs: int, outputs: int, **settings: Any) -> nn.Module:
    if kind.__name__ == "GINConv":
        return kind(nn.Sequential(nn.Linear(inputs, 8), nn.ReLU(), nn.Linear(8, outputs)))  # type: ignore[no-any-return]
    return kind(inputs, outputs, **settings)  # type: ignore[no-any-return]


def _classify(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
    return functional.cross_entropy(model(batch["x"]), batch["labels"])


def _recurrent(kind: Callable[..., nn.Module]) -> Callable[[], Made]:
    class Reader(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Embedding(30, 8, padding_idx=0)
            self.recurrent = kind(8, 8, num_layers=2, batch_first=True, bidirectional=True, dropout=0.1)
            self.head = nn.Linear(16, _LABELS)
            self.lengths = [7, 5, 5, 2]

        def forward(self, x: Tensor) -> Tensor:
            packed = pack_padded_sequence(self.embed(x), self.lengths, batch_first=True)
            out, _ = pad_packed_sequence(self.recurrent(packed)[0], batch_first=True)
            return self.head(out.sum(1))  # type: ignore[no-any-return]

    def make() -> Made:
        return Made(Reader().train(), _classify, {"x": np.random.default_rng(0).integers(1, 30, (4, 7)),
            "labels": classes(4, _LABELS)})  # fmt: skip

    return make


def _ctc() -> Made:
    def objective(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
        scores = model(batch["x"]).log_softmax(-1).transpose(0, 1)
        return functional.ctc_loss(scores, batch["labels"], batch["lengths"], batch["label_lengths"])

    model = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 6))
    data = {
        "x": normal(4, 9, 4),
        "labels": np.random.default_rng(0).integers(1, 6, (4, 3)),
        "lengths": np.array([9, 8, 7, 9]),
        "label_lengths": np.array([3, 2, 3, 1]),
    }
    return Made(model, objective, data)


def _loss(objective: Callable[[nn.Module, Mapping[str, Tensor]], Tensor], outputs: int = 4, **data: Array) -> Made:
    model = nn.Sequential(nn.Linear(5, 8), nn.ReLU(), nn.Linear(8, outputs))
    return Made(model, objective, {"x": normal(8, 5), **data})


def _gaussian() -> Made:
    def objective(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
        mean, spread = model(batch["x"]).chunk(2, dim=-1)
        return functional.gaussian_nll_loss(mean, batch["y"], functional.softplus(spread))

    return _loss(objective, 4, y=normal(8, 2, seed=1))


def _triplet() -> Made:
    def objective(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
        return functional.triplet_margin_loss(model(batch["x"]), model(batch["near"]), model(batch["far"]))

    return _loss(objective, 4, near=normal(8, 5, seed=1), far=normal(8, 5, seed=2))


def _cosine() -> Made:
    def objective(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
        return functional.cosine_embedding_loss(model(batch["x"]), model(batch["other"]), batch["same"])

    return _loss(objective, 4, other=normal(8, 5, seed=1), same=(classes(8, 2) * 2 - 1))


def _huber() -> Made:
    def objective(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
        return functional.huber_loss(model(batch["x"]), batch["y"])

    return _loss(objective, 2, y=normal(8, 2, seed=1))


def _contrastive() -> Made:
    def objective(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
        """NT-Xent (Chen et al. 2020)."""
        both = functional.normalize(torch.cat([model(batch["x"]), model(batch["other"])]))
        rows = len(both)
        scores = (both @ both.T / 0.5).masked_fill(torch.eye(rows, dtype=torch.bool), -float("inf"))
        return functional.cross_entropy(scores, torch.arange(rows).roll(rows // 2))

    return _loss(objective, 4, other=normal(8, 5, seed=1))


def _gumbel() -> Made:
    def objective(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
        choice = functional.gumbel_softmax(model(batch["x"]), tau=0.7, hard=True)
        return (choice * batch["costs"]).sum(-1).mean()

    return _loss(objective, 4, costs=normal(8, 4, seed=1))


def _ppo() -> Made:
    def objective(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
        """The clipped objective of Schulman et al. 2017, with a value loss and entropy."""
        out = model(batch["x"])
        policy, value = torch.distributions.Categorical(logits=out[:, :3]), out[:, 3]
        advantage = batch["returns"] - value.detach()
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        ratio = (policy.log_prob(batch["actions"]) - batch["old"]).exp()
        gain = torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
        return -gain + 0.5 * functional.mse_loss(value, batch["returns"]) - 0.01 * policy.entropy().mean()

    return _loss(objective, 4, actions=classes(8, 3), old=-np.abs(normal(8, seed=3)), returns=normal(8, seed=4))


def _variational() -> Made:
    class Autoencoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.encoder, self.decoder = nn.Linear(12, 6), nn.Linear(3, 12)

    def objective(model: nn.Module, batch: Mapping[str, Tensor]) -> Tensor:
        mean, spread = model.encoder(batch["x"]).chunk(2, -1)
        latent = mean + torch.exp(spread / 2) * torch.randn_like(mean)
        decoded = functional.binary_cross_entropy_with_logits(model.decoder(latent), batch["x"].sigmoid())
        return decoded - 0.5 * torch.mean(1 + spread - mean.square() - spread.exp())

    return Made(Autoencoder(), objective, {"x": normal(8, 12)})


_G, _P = "torch_geometric", "torch"
OTHERS = (
    Entry("GCN", _G, _graph("GCNConv")),
    Entry("GAT", _G, _graph("GATConv")),
    Entry("GraphSAGE", _G, _graph("SAGEConv")),
    Entry("GraphSAGE with maxima", _G, _graph("SAGEConv", aggr="max")),
    Entry("GIN", _G, _graph("GINConv")),
    Entry("LSTM, packed sequences", _P, _recurrent(nn.LSTM)),
    Entry("GRU, packed sequences", _P, _recurrent(nn.GRU)),
    Entry("CTC loss", _P, _ctc),
    Entry("Gaussian negative log likelihood", _P, _gaussian),
    Entry("Triplet margin loss", _P, _triplet),
    Entry("Cosine embedding loss", _P, _cosine),
    Entry("Huber loss", _P, _huber),
    Entry("Contrastive loss (NT-Xent)", _P, _contrastive),
    Entry("Gumbel softmax", _P, _gumbel),
    Entry("PPO", _P, _ppo),
    Entry("Variational autoencoder", _P, _variational),
)
