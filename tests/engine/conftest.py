from __future__ import annotations

from support.job_fixtures import calibrated_job, cheat_job, digits_job, gpt2_job, once, proven_job, trainer_key

__all__ = ["calibrated_job", "cheat_job", "digits_job", "gpt2_job", "once", "proven_job", "trainer_key"]
