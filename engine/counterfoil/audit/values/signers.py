"""Who signed a run or a capsule, as a value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Signers:
    """Whose signatures a file holds. Each holds for the key that is named, and nothing shows when it was made."""

    trainer_key: str = ""  #: Key id of who signed the run; empty where nobody did, or the signature does not hold.
    trainer_at: str = ""  #: When, ISO 8601 in UTC, as the trainer says; empty with the key.
    client_key: str = ""  #: Key id of who signed the order; empty where nobody did, or the signature does not hold.
    client_at: str = ""  #: When, ISO 8601 in UTC, as the client says; empty with the key.
    parties: tuple[str, ...] = ()  #: Key ids of the parties that answer for shares of the run.
