"""What was left out or changed of a client's code without its training becoming another one: told to the client."""

from __future__ import annotations


class Notes:
    """Sentences for the client, each once, in the order in which they came."""

    def __init__(self) -> None:
        self._sentences: dict[str, None] = {}

    def add(self, sentence: str) -> None:
        """Add a sentence, unless it is there."""
        self._sentences[sentence] = None

    @property
    def sentences(self) -> tuple[str, ...]:
        """All of them."""
        return tuple(self._sentences)
