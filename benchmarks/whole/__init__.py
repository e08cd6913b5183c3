"""Whole trainings of the paper's size: recorded, audited on another instruction set, and trained ordinarily on both.

:mod:`.jobs` says what is trained and on which two machines, :mod:`.pieces` records and audits, :mod:`.apart` trains in
ordinary float32 on both machines at once, :mod:`.thresholds` compares margins, :mod:`.page` writes what was found, and
:mod:`.command` does all of it in tasks that go on where they were stopped.
"""
