"""Stands for a library that a script imports for another script's sake, and does not use."""

from __future__ import annotations

from types import SimpleNamespace

openai_object = SimpleNamespace(OpenAIObject=dict)
