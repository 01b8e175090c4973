"""The planted bugs, by area; each with a short history that shows its harm."""

from __future__ import annotations

from benchmarks.mutants.mutant import Mutant
from benchmarks.mutants.planted import (
    commands,
    commit_loop,
    log,
    reads,
    rows,
    rules,
    store,
    unfaithful,
)

_ALL = (
    *rules.MUTANTS,
    *reads.MUTANTS,
    *commit_loop.MUTANTS,
    *log.MUTANTS,
    *rows.MUTANTS,
    *store.MUTANTS,
    *commands.MUTANTS,
    *unfaithful.MUTANTS,
)

MUTANTS: dict[str, Mutant] = {mutant.name: mutant for mutant in _ALL}
"""By name."""

if len(MUTANTS) < len(_ALL):
    raise ValueError("two planted bugs have one name")
