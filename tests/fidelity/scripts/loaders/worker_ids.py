"""Splits an iterable dataset over two workers by get_worker_info and a worker_init_fn."""

import torch
from torch import nn
from torch.utils.data import DataLoader, IterableDataset, get_worker_info


class Stream(IterableDataset):
    def __init__(self, first, last):
        self.first, self.last = first, last

    def __iter__(self):
        for i in range(self.first, self.last):
            generator = torch.Generator().manual_seed(i)
            x = torch.randn(4, generator=generator)
            yield x, x.prod()


def split(worker_id):
    info = get_worker_info()
    stream = info.dataset
    share = (stream.last - stream.first) // info.num_workers
    stream.first = stream.first + worker_id * share
    stream.last = stream.first + share


def main():
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(4, 16), nn.SiLU(), nn.Linear(16, 1))
    opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for x, y in DataLoader(Stream(0, 48), batch_size=8, num_workers=2, worker_init_fn=split):
        loss = nn.functional.smooth_l1_loss(model(x).squeeze(1), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return model


if __name__ == "__main__":
    trained = main()
