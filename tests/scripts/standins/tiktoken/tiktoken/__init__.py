"""Stands for a tokenizer whose files would have to be downloaded."""

from __future__ import annotations

from types import SimpleNamespace


def get_encoding(name: str) -> SimpleNamespace:
    return SimpleNamespace(name=name, eot_token=50256)
