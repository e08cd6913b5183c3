from __future__ import annotations

from support.job_fixtures import digits_job, gpt2_job, trainer_key

__all__ = ["digits_job", "gpt2_job", "trainer_key"]
