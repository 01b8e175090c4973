"""A planted bug: one place of the source, written otherwise."""

from __future__ import annotations

import hashlib
from enum import StrEnum
from pathlib import Path

from msgspec import Struct

ROOT = Path(__file__).parents[2]


class Area(StrEnum):
    """What it breaks."""

    RULES = "conflict rules"
    ISOLATION = "isolation"
    COMMIT_LOOP = "commit loop"
    READS = "what was read"
    LOG = "log replay"
    ROWS = "row-level reconciliation"
    VECTORS = "deletion vectors"
    STORE = "the store's put-if-absent"
    CHECKPOINTS = "checkpoints"
    CLIENT = "a client's retry"
    COMMANDS = "commands"


class Mutant(Struct, frozen=True):
    """`old` of `file` becomes `new`. `witness`: a history that shows the harm, checked by hand.

    A mutant that is not `unsafe` is only unfaithful: no data is lost or doubled, and no promise
    of the isolation level broken; conformance cases have to find it. `equivalent` says why one
    changes nothing that anybody can see; a small world shows it (`small_world.py`).
    """

    name: str
    area: Area
    file: str
    old: str
    new: str
    witness: str
    unsafe: bool = True
    equivalent: str = ""

    @property
    def module(self) -> str:
        """The module that it changes, as it is imported."""
        return "whitecap." + self.file.removesuffix(".py").replace("/", ".")

    def source(self) -> str:
        """The source of the module with the bug in it.

        Raises `LookupError` where `old` does not stand exactly once in the file.
        """
        text = (ROOT / self.file).read_text(encoding="utf-8")
        if text.count(self.old) != 1:
            raise LookupError(f"{self.name}: {self.file} has it {text.count(self.old)} times")
        return text.replace(self.old, self.new)

    def place(self) -> str:
        """A hash of the source of the module with the bug in it."""
        return hashlib.blake2b(self.source().encode(), digest_size=8).hexdigest()
