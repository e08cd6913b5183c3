"""Verdicts: signing one, printing its report, reading one."""
