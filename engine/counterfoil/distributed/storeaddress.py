"""Where the environment says that the ranks' store is, and whether it is reached from here.

torch waits for it as long as for a collective, hears no Ctrl-C meanwhile, and says at the end which call failed.
"""

from __future__ import annotations

import os
import socket
import time
from dataclasses import dataclass

from counterfoil.base.joberrors import RankError
from counterfoil_core.base.cancel import CancelToken

AGENT_SECONDS = 20.0
"""How long a store is tried for that torchrun keeps: it is there before the ranks are."""
RANK_0_SECONDS = 120.0
"""The same for one that rank 0 keeps, which may begin so much later than others."""
_ATTEMPT_SECONDS = 5.0
_PAUSE_SECONDS = 0.5
_NAMED = (
    "On one machine start with torchrun --standalone --local-addr 127.0.0.1. On several give torchrun --local-addr on "
    "each of them, its own address that the others reach; without torchrun set MASTER_ADDR to an address of rank 0's "
    "machine. Or have the name found, by /etc/hosts for instance."
)
_REACHED = (
    "Look whether rank 0 runs and has not failed, whether MASTER_ADDR and MASTER_PORT are those of its machine, and "
    "whether a firewall lies between."
)


@dataclass(frozen=True)
class StoreAddress:
    """Where the store is, as ``MASTER_ADDR`` and ``MASTER_PORT`` say."""

    host: str  #: Name or address of the machine.
    port: int  #: The port.
    begun: bool  #: Whether it is there already: torchrun keeps it, and not rank 0.

    def wait(self, rank: int, cancel: CancelToken | None) -> None:
        """Wait until the store can be reached.

        Args:
            rank: This rank; 0 begins the store itself where it is not there already, and needs its name alone.
            cancel: Looked at meanwhile.

        Raises:
            RankError: It cannot, and why.
            CancelledError: ``cancel`` was set.
        """
        until = time.monotonic() + (AGENT_SECONDS if self.begun else RANK_0_SECONDS)
        while (trouble := self._trouble(connects=rank > 0 or self.begun)) is not None:
            if time.monotonic() > until:
                raise self._error(trouble) from trouble
            (cancel or CancelToken()).wait(_PAUSE_SECONDS)

    def _trouble(self, *, connects: bool) -> Exception | None:
        """Return what stands between this process and the store; None where nothing does."""
        try:
            socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM)
            if connects:
                socket.create_connection((self.host, self.port), _ATTEMPT_SECONDS).close()
        except (OSError, UnicodeError) as error:  # the latter for what cannot be a name
            return error
        return None

    def _error(self, trouble: Exception) -> RankError:
        where, remedy = (
            f"The store by which the ranks find each other, at {self.host}:{self.port}, is not reached",
            _REACHED,
        )
        why = getattr(trouble, "strerror", None) or "nobody answers there"
        if isinstance(trouble, socket.gaierror | UnicodeError):
            why, remedy = f"no address is found for the name {self.host}", _NAMED
        elif isinstance(trouble, ConnectionRefusedError):
            why = "nobody listens there"
        return RankError(f"{where}: {why}.", remedy=remedy, detail=str(trouble))


def store_address() -> StoreAddress | None:
    """Return what the environment says of the store; None where it says nothing that could be one, as torch then says.

    torchrun's word for a store that it keeps itself is that of ``torch.distributed``.
    """
    host, port = os.environ.get("MASTER_ADDR", ""), os.environ.get("MASTER_PORT", "")
    if not host or not port.isdecimal():
        return None
    return StoreAddress(host, int(port), os.environ.get("TORCHELASTIC_USE_AGENT_STORE") == "True")
