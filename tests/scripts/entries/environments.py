"""Reinforcement learning: what a step trains on is drawn from the model that it trains."""

from __future__ import annotations

from tests.scripts.entry import Change, Script

ENVIRONMENTS = (
    *(
        Script(
            f"examples: {name}",
            "pytorch/examples",
            f"reinforcement_learning/{name}.py",
            libraries=("gymnasium",),
            losses=False,
            size=(
                Change(
                    f"reinforcement_learning/{name}.py",
                    "    for i_episode in count(1):",
                    "    for i_episode in range(1, 5):",
                    "four episodes",
                ),
            ),
        )
        for name in ("reinforce", "actor_critic")
    ),
    Script(
        "cleanrl dqn",
        "vwxyzjn/cleanrl",
        "cleanrl/dqn.py",
        (
            *("--total-timesteps", "61", "--learning-starts", "19", "--train-frequency", "10", "--no-cuda"),
            *("--target-network-frequency", "20", "--batch-size", "8", "--buffer-size", "100"),
        ),
        needs=("cleanrl_utils",),
        imports=(".",),
        libraries=("gymnasium", "tyro", "tensorboard"),
        losses=False,
    ),
    Script(
        "cleanrl ppo",
        "vwxyzjn/cleanrl",
        "cleanrl/ppo.py",
        (
            *("--total-timesteps", "64", "--num-envs", "2", "--num-steps", "16", "--num-minibatches", "2"),
            *("--update-epochs", "1", "--no-cuda"),
        ),
        libraries=("gymnasium", "tyro", "tensorboard"),
        losses=False,
    ),
)
