"""What a statement's kind lets it do to rows, whatever it says: for runs that are not replayed.

OPTIMIZE keeps all rows, INSERT takes none, DELETE brings none, UPDATE brings as many as it takes.
That needs no order, no other transaction and nothing that runs SQL.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from whitecap.sim.oracles.effects import StatementEffects
from whitecap.sim.oracles.evidence import Evidence
from whitecap.sim.oracles.finding import Anomaly, Finding, Oracle
from whitecap.sim.oracles.graph import node_of
from whitecap.sim.oracles.row_changes import VersionChange, shown
from whitecap.sim.oracles.statements.kinds import EffectKind, kind_of

_RowRule = tuple[str, Callable[[VersionChange], bool]]

_KEEPS: _RowRule = ("keeps all rows", lambda change: change.is_none)
_APPENDS: _RowRule = ("only brings rows", lambda change: not change.gone)
_DELETES: _RowRule = ("only takes rows", lambda change: not change.new)
_UPDATES: _RowRule = (
    "brings as many rows as it takes", lambda change: change.gone.total() == change.new.total(),
)  # fmt: skip

_RULES = {
    EffectKind.KEEPS: _KEEPS,
    EffectKind.APPENDS: _APPENDS,
    EffectKind.BATCH: _APPENDS,
    EffectKind.DELETES: _DELETES,
    EffectKind.EMPTIES: _DELETES,
    EffectKind.UPDATES: _UPDATES,
}
"""Kinds that by themselves say what cannot have been."""


def content_findings(evidence: Evidence, effects: StatementEffects) -> Iterator[Finding]:
    """Versions that did to the rows what their writer's statement cannot do."""
    for version, change in evidence.changes.changes.items():
        rule = _rule_of(evidence, effects, version)
        if rule is None or change.problem or change.reshaped or rule[1](change):
            continue
        counts = f"{change.gone.total()} went and {change.new.total()} came"
        yield Finding(
            oracle=Oracle.CONTENT,
            anomaly=Anomaly.WRONG_ROWS,
            sentence=f"{evidence.name_of(version)} {rule[0]} by what it says, and {counts}",
            transactions=(node_of(evidence, version),),
            versions=(version,),
            rows=shown(change.gone, change.schema) + shown(change.new, change.schema),
        )


def _rule_of(evidence: Evidence, effects: StatementEffects, version: int) -> _RowRule | None:
    owner = evidence.owners.get(version)
    if owner is None or owner.statement is None:
        return None
    if not effects.is_main(version):
        return _KEEPS
    return _RULES.get(kind_of(owner.statement))
