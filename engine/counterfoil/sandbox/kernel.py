"""What is asked of the kernel to close a box: landlock(7), seccomp(2), prctl(2), capset(2)."""

from __future__ import annotations

import ctypes
import os
import stat
from collections.abc import Iterable

from counterfoil.sandbox.calls import Architecture

READ_FILE, READ_DIR = 1 << 2, 1 << 3
_EXECUTE, _WRITE_FILE, _REMOVE_DIR, _REMOVE_FILE, _MAKE_DIR, _MAKE_REG = 1 << 0, 1 << 1, 1 << 4, 1 << 5, 1 << 7, 1 << 8
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_OF_FILES = _EXECUTE | _WRITE_FILE | READ_FILE | _TRUNCATE | _IOCTL_DEV
_READING = READ_FILE | READ_DIR
_WRITING = (
    _READING | _WRITE_FILE | _REMOVE_DIR | _REMOVE_FILE | _MAKE_DIR | _MAKE_REG | _REFER | _TRUNCATE
)  # fmt: skip
_ANY_TCP = 0b11
_ANY_SCOPE = 0b11
HIGHEST_LANDLOCK = 7
"""The last version that was looked at; of a later one the rights of this one are used."""

_CREATE_VERSION = 1
_RULE_PATH_BENEATH = 1
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_SET_MODE_FILTER = 1
_SECCOMP_ALL_THREADS = 1
_CAPABILITY_VERSION_3 = 0x20080522
_KEPT_CAPABILITIES = (1 << 1) | (1 << 2)
"""``CAP_DAC_OVERRIDE`` and ``CAP_DAC_READ_SEARCH``: an administrator reads files of others, where they are listed."""


class _Ruleset(ctypes.Structure):
    _fields_ = (("fs", ctypes.c_uint64), ("net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("filter", ctypes.c_void_p))


class _CapabilityHeader(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Capabilities(ctypes.Structure):
    _fields_ = (("effective", ctypes.c_uint32), ("permitted", ctypes.c_uint32), ("inheritable", ctypes.c_uint32))


class Kernel:
    """The kernel of this machine; each method raises OSError where it does not do what it is asked.

    Args:
        architecture: Its numbers.
    """

    def __init__(self, architecture: Architecture) -> None:
        self._numbers = architecture.asked
        self._library = ctypes.CDLL(None, use_errno=True)

    def landlock_version(self) -> int:
        """Return the version of Landlock's interface, from 1."""
        return self._call("landlock_create_ruleset", None, 0, _CREATE_VERSION)

    def renounce_privileges(self) -> None:
        """Never get new ones, by no program that is executed; and drop what an administrator has."""
        self._checked(self._library.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
        if os.geteuid() == 0:
            kept = _Capabilities(_KEPT_CAPABILITIES, _KEPT_CAPABILITIES, 0)
            # Two of them: the second one is for numbers from 32 on.
            both = (_Capabilities * 2)(kept, _Capabilities(0, 0, 0))
            header = _CapabilityHeader(_CAPABILITY_VERSION_3, 0)
            self._checked(self._library.capset(ctypes.byref(header), ctypes.byref(both)))

    def restrict_files(
        self,
        version: int,
        reads: Iterable[str],
        writes: Iterable[str],
        devices: Iterable[str],
        lists: Iterable[str] = (),
    ) -> None:
        """Let this thread, and all that it starts, open what is listed and nothing else; with Landlock.

        From version 4 on no TCP port is bound or connected to either, and from version 6 on no signal is sent and no
        abstract socket reached outside of the box. What is listed and does not exist is passed over.

        Args:
            version: The version of Landlock that the kernel has.
            reads: Files and folders that may be read, absolute.
            writes: Folders and files that may be written.
            devices: Devices that may be read and written.
            lists: Folders that may be listed.

        Raises:
            OSError: The kernel refuses.
        """
        handled = _handled(version)
        attributes = _Ruleset(handled, _ANY_TCP if version >= 4 else 0, _ANY_SCOPE if version >= 6 else 0)
        size = 8 if version < 4 else 16 if version < 6 else 24
        ruleset = self._call("landlock_create_ruleset", ctypes.byref(attributes), size, 0)
        try:
            allowed = (
                (reads, _READING), (writes, _WRITING), (devices, READ_FILE | _WRITE_FILE), (lists, READ_DIR)
            )  # fmt: skip
            for paths, rights in allowed:
                for path in paths:
                    self._allow(ruleset, path, rights & handled)
            self._call("landlock_restrict_self", ruleset, 0)
        finally:
            os.close(ruleset)

    def restrict_calls(self, program: bytes) -> None:
        """Let all threads of this process make the system calls that a filter lets through."""
        buffer = ctypes.create_string_buffer(program, len(program))
        described = _Program(len(program) // 8, ctypes.cast(buffer, ctypes.c_void_p))
        failed = self._call("seccomp", _SECCOMP_SET_MODE_FILTER, _SECCOMP_ALL_THREADS, ctypes.byref(described))
        if failed:  # the number of a thread that has a filter of its own
            raise OSError(f"thread {failed} has another filter")

    def _allow(self, ruleset: int, path: str, rights: int) -> None:
        try:
            place = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            return
        try:
            if not stat.S_ISDIR(os.fstat(place).st_mode):
                rights &= _OF_FILES
            self._call("landlock_add_rule", ruleset, _RULE_PATH_BENEATH, ctypes.byref(_PathBeneath(rights, place)), 0)
        finally:
            os.close(place)

    def _call(self, name: str, *arguments: object) -> int:
        # Numbers are handed over as the kernel takes them: as long as a pointer.
        taken = (ctypes.c_long(each) if isinstance(each, int) else each for each in arguments)
        return self._checked(self._library.syscall(ctypes.c_long(self._numbers[name]), *taken))

    @staticmethod
    def _checked(result: int) -> int:
        if result < 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
        return result


def _handled(version: int) -> int:
    """Return the rights to files that a version of Landlock knows, and takes away where they are not given."""
    bits = {1: 13, 2: 14, 3: 15, 4: 15}.get(version, 16)
    return (1 << bits) - 1
