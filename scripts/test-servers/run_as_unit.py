"""run_as_unit.py UNIT PROGRAM ARGUMENT…: runs a program with the system calls and the address families that a unit of
systemd allows (SystemCallFilter, RestrictAddressFamilies), and without root, on machines without a running systemd."""

import ctypes
import errno
import os
import socket
import subprocess
import sys

ALLOW = 0x7FFF0000
EQUAL = 4
USER = 10001


class Comparison(ctypes.Structure):
    _fields_ = [
        ("argument", ctypes.c_uint),
        ("operator", ctypes.c_int),
        ("value", ctypes.c_uint64),
        ("mask", ctypes.c_uint64),
    ]


def refuse(code: int) -> int:
    return 0x00050000 | code


def calls_of(word: str) -> set[str]:
    """The system calls of a group such as @default, or the one that is named."""
    if not word.startswith("@"):
        return {word}
    command = ["systemd-analyze", "syscall-filter", word]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    members = (line.strip() for line in text.splitlines()[1:])
    return set().union(*(calls_of(member) for member in members if member and not member.startswith("#")))


def values_of(unit: str, name: str) -> list[str]:
    with open(unit, encoding="utf-8") as file:
        return [line.split("=", 1)[1].strip() for line in file if line.startswith(f"{name}=")]


def main(unit: str, command: list[str]) -> None:
    allowed = calls_of("@default")
    for value in values_of(unit, "SystemCallFilter"):
        calls = set().union(*(calls_of(word) for word in value.removeprefix("~").split()))
        allowed = allowed - calls if value.startswith("~") else allowed | calls
    families = {
        getattr(socket, word)
        for value in values_of(unit, "RestrictAddressFamilies")
        for word in value.split()
    }

    # The unit has a user of its own, without any rights.
    if os.geteuid() == 0:
        os.setgroups([])
        os.setgid(USER)
        os.setuid(USER)
    seccomp = ctypes.CDLL("libseccomp.so.2")
    seccomp.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(seccomp.seccomp_init(refuse(errno.EPERM)))
    for name in sorted(allowed - {"socket"}):
        number = seccomp.seccomp_syscall_resolve_name(name.encode())
        if number >= 0:
            seccomp.seccomp_rule_add(context, ALLOW, number, 0)
    number = seccomp.seccomp_syscall_resolve_name(b"socket")
    for family in families:
        comparison = (Comparison * 1)(Comparison(0, EQUAL, family, 0))
        seccomp.seccomp_rule_add_array(context, ALLOW, number, 1, comparison)
    if seccomp.seccomp_load(context) != 0:
        raise OSError("The filter cannot be loaded.")
    os.execvp(command[0], command)


main(sys.argv[1], sys.argv[2:])
