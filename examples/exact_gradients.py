"""Trains a small transformer with DistributedDataParallel, by exact gradients and as usual, and prints what it gave.

    torchrun --standalone --local-addr 127.0.0.1 --nproc-per-node 3 examples/exact_gradients.py

Each way is gone twice: once each rank takes rows of its own, once the ranks change places. Nothing else of
Counterfoil is used.
"""

from __future__ import annotations

import argparse
import hashlib
import time

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from counterfoil import ExactAllreduceState, exact_allreduce_hook

VOCABULARY = 4096


class Transformer(nn.Module):
    """Predicts each next token.

    Args:
        layers: Number of layers.
        width: Length of a token's vector.
    """

    def __init__(self, layers: int, width: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, width)
        layer = nn.TransformerEncoderLayer(width, width // 64, 4 * width, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(width, VOCABULARY)

    def forward(self, rows: Tensor) -> Tensor:
        """Return the mean loss of rows of tokens."""
        inputs, targets = rows[:, :-1], rows[:, 1:]
        mask = nn.Transformer.generate_square_subsequent_mask(inputs.shape[1])
        found = self.head(self.layers(self.tokens(inputs), mask, is_causal=True))
        return nn.functional.cross_entropy(found.flatten(0, 1), targets.flatten())


class Training:
    """One way to train, step by step.

    Args:
        options: Those of the command line.
        exact: Whether by exact gradients.
        turned: Whether the ranks change places.
    """

    def __init__(self, options: argparse.Namespace, exact: bool, turned: bool) -> None:
        self.name = f"{'exact' if exact else 'plain'}, {'ranks have changed places' if turned else 'ranks in order'}"
        self.seconds: list[float] = []
        self._shape = (options.rows, options.length + 1)
        rank = dist.get_rank()
        self._rows = torch.Generator().manual_seed(dist.get_world_size() - 1 - rank if turned else rank)
        torch.manual_seed(0)
        self._model = DistributedDataParallel(Transformer(options.layers, options.width))
        if exact:
            self._model.register_comm_hook(ExactAllreduceState(), exact_allreduce_hook)
        self._optimizer = torch.optim.SGD(self._model.parameters(), 0.1)

    def step(self) -> None:
        """Train one step."""
        rows = torch.randint(VOCABULARY, self._shape, generator=self._rows)
        dist.barrier()
        began = time.perf_counter()
        self._optimizer.zero_grad()
        self._model(rows).backward()
        self._optimizer.step()
        self.seconds.append(time.perf_counter() - began)

    def digest(self) -> str:
        """Return the SHA-256 digest of the weights."""
        weights = (parameter.detach().numpy().tobytes() for parameter in self._model.parameters())
        return hashlib.sha256(b"".join(weights)).hexdigest()


def main() -> None:
    """Train in all ways, on the ranks that torchrun started; their steps take turns, so that times can be compared."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, default=1)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--rows", type=int, default=2, help="of each rank in each step")
    parser.add_argument("--length", type=int, default=16, help="tokens of a row")
    parser.add_argument("--steps", type=int, default=3)
    options = parser.parse_args()
    dist.init_process_group("gloo")
    trainings = [Training(options, exact, turned) for exact in (True, False) for turned in (False, True)]
    for _ in range(options.steps):
        for training in trainings:
            training.step()
    if dist.get_rank() == 0:
        for training in trainings:
            print(f"{training.name}: weights {training.digest()[:16]}, quickest step {min(training.seconds):.3f} s")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
