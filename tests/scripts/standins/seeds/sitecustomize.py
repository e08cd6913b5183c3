"""Seeds what a script may forget to seed, so that its own losses and the recorded ones begin with the same weights."""

import random

import numpy as np
import torch

random.seed(0)
np.random.seed(0)
torch.manual_seed(0)
