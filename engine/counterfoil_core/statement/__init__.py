"""Verdicts and adjudications as signed statements: strict models, numbered rules, reading and writing."""
