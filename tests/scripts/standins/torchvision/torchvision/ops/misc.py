"""Classes that libraries ask about with isinstance; no model here has one."""

from torch import nn


class FrozenBatchNorm2d(nn.Module):
    pass
