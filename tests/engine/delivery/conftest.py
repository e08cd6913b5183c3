from __future__ import annotations

from support.job_fixtures import trainer_key

__all__ = ["trainer_key"]
