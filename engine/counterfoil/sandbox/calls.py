"""The system calls that a box refuses, and their numbers.

Numbers are those of Linux's ``asm/unistd_64.h`` (x86-64) and ``asm-generic/unistd.h`` (aarch64).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

HIGHEST = 450
"""The last number that was looked at, ``set_mempolicy_home_node``: a box says of later calls that there are none."""

_REFUSED: dict[str, tuple[int | None, int | None]] = {
    # Nobody is spoken to. What is open already stays open.
    "socket": (41, 198),
    "socketpair": (53, 199),
    "connect": (42, 203),
    "bind": (49, 200),
    "listen": (50, 201),
    "accept": (43, 202),
    "accept4": (288, 242),
    # No other program and no other process.
    "execve": (59, 221),
    "execveat": (322, 281),
    "fork": (57, None),
    "vfork": (58, None),
    # Nobody else's memory, descriptors, signals and priorities.
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "process_madvise": (440, 440),
    "process_mrelease": (448, 448),
    "kcmp": (312, 272),
    "pidfd_open": (434, 434),
    "pidfd_getfd": (438, 438),
    "pidfd_send_signal": (424, 424),
    "tkill": (200, 130),
    "rt_sigqueueinfo": (129, 138),
    "migrate_pages": (256, 238),
    "move_pages": (279, 239),
    "sched_setscheduler": (144, 119),
    "sched_setparam": (142, 118),
    "sched_setattr": (314, 274),
    "setpriority": (141, 140),
    "ioprio_set": (251, 30),
    # No other view of files.
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "unshare": (272, 97),
    "setns": (308, 268),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "move_mount": (429, 429),
    "open_tree": (428, 428),
    "mount_setattr": (442, 442),
    "name_to_handle_at": (303, 264),
    "open_by_handle_at": (304, 265),
    # What Landlock does not look at: what a file says of itself, and who watches it.
    "chmod": (90, None),
    "fchmod": (91, 52),
    "fchmodat": (268, 53),
    "chown": (92, None),
    "lchown": (94, None),
    "fchown": (93, 55),
    "fchownat": (260, 54),
    "setxattr": (188, 5),
    "lsetxattr": (189, 6),
    "fsetxattr": (190, 7),
    "getxattr": (191, 8),
    "lgetxattr": (192, 9),
    "fgetxattr": (193, 10),
    "listxattr": (194, 11),
    "llistxattr": (195, 12),
    "flistxattr": (196, 13),
    "removexattr": (197, 14),
    "lremovexattr": (198, 15),
    "fremovexattr": (199, 16),
    "utime": (132, None),
    "utimes": (235, None),
    "futimesat": (261, None),
    "utimensat": (280, 88),
    # Landlock looks at it from its third version on.
    "truncate": (76, 45),
    "inotify_init": (253, None),
    "inotify_init1": (294, 26),
    "inotify_add_watch": (254, 27),
    "fanotify_init": (300, 262),
    "fanotify_mark": (301, 263),
    # Every disk of the machine is written out, whoever uses it.
    "sync": (162, 81),
    "syncfs": (306, 267),
    # Memory that others can find.
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
    "shmat": (30, 196),
    "shmctl": (31, 195),
    "semget": (64, 190),
    "semop": (65, 193),
    "semtimedop": (220, 192),
    "semctl": (66, 191),
    "msgget": (68, 186),
    "msgsnd": (69, 189),
    "msgrcv": (70, 188),
    "msgctl": (71, 187),
    "mq_open": (240, 180),
    "mq_unlink": (241, 181),
    "mq_notify": (244, 184),
    # Large parts of the kernel that no computation needs.
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "personality": (135, 92),
    "modify_ldt": (154, None),
    "lookup_dcookie": (212, 18),
    "uselib": (134, None),
    "ustat": (136, None),
    "sysfs": (139, None),
    # The administrator's.
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
    "reboot": (169, 142),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "iopl": (172, None),
    "ioperm": (173, None),
    "nfsservctl": (180, 42),
    "vhangup": (153, 58),
    "settimeofday": (164, 170),
    "clock_settime": (227, 112),
    "clock_adjtime": (305, 266),
    "adjtimex": (159, 171),
    "sethostname": (170, 161),
    "setdomainname": (171, 162),
    "syslog": (103, 116),
    "setuid": (105, 146),
    "setgid": (106, 144),
    "setreuid": (113, 145),
    "setregid": (114, 143),
    "setresuid": (117, 147),
    "setresgid": (119, 149),
    "setfsuid": (122, 151),
    "setfsgid": (123, 152),
    "setgroups": (116, 159),
    "capset": (126, 91),
}
_LOOKED_AT: dict[str, tuple[int, int]] = {
    "clone": (56, 220),
    "clone3": (435, 435),
    "fcntl": (72, 25),
    "ioctl": (16, 29),
    "kill": (62, 129),
    "mmap": (9, 222),
    "prlimit64": (302, 261),
    "rt_tgsigqueueinfo": (297, 240),
    "sched_setaffinity": (203, 122),
    "tgkill": (234, 131),
}
_ASKED: dict[str, tuple[int, int]] = {
    "landlock_create_ruleset": (444, 444),
    "landlock_add_rule": (445, 445),
    "landlock_restrict_self": (446, 446),
    "seccomp": (317, 277),
}


@dataclass(frozen=True)
class Architecture:
    """A processor, as Linux numbers its system calls."""

    name: str  #: As ``uname -m`` says it.
    audit: int  #: What the kernel calls it, of ``linux/audit.h``: ``AUDIT_ARCH_X86_64``, ``AUDIT_ARCH_AARCH64``.
    refused: Mapping[str, int]  #: Calls that a box refuses, by name.
    looked_at: Mapping[str, int]  #: Calls of which it depends on the arguments.
    asked: Mapping[str, int]  #: Calls that close the box.


def _architecture(name: str, audit: int, column: int) -> Architecture:
    refused = {each: found for each, numbers in _REFUSED.items() if (found := numbers[column]) is not None}
    looked_at = {each: numbers[column] for each, numbers in _LOOKED_AT.items()}
    return Architecture(name, audit, refused, looked_at, {each: numbers[column] for each, numbers in _ASKED.items()})


ARCHITECTURES: Mapping[str, Architecture] = {
    one.name: one for one in (_architecture("x86_64", 0xC000003E, 0), _architecture("aarch64", 0xC00000B7, 1))
}
"""By the name that ``uname -m`` says."""
