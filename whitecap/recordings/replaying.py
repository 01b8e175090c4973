"""A recorded run on a real Delta Lake, from Python.

import whitecap
run = whitecap.run("scenarios/events.yaml", seed=7)
print(whitecap.replay(run, transactions=12))
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING

from whitecap.arguments.kinds import of_its_kinds
from whitecap.engine.errors import InvalidInput, Problem, gathered, noted
from whitecap.reports.agreement import ReportedAgreement, agreement_in
from whitecap.runs import Run
from whitecap.sim.quantities.whole_numbers import whole_or_none

if TYPE_CHECKING:
    import pandas as pd

    from whitecap.sim.replay.agreement import Agreement, ComparedTransaction
    from whitecap.sim.replay.choice import ChosenRun
    from whitecap.sim.replay.plan import ReplayPlan
    from whitecap.sim.scenario.cells import CellChoice
    from whitecap.sweeps import Sweep

__all__ = ["Replayed", "replay"]


@dataclass(frozen=True)
class Replayed:
    """How the transactions of a recorded window really ended; print it, or look at its parts."""

    compared: Agreement
    """Every transaction as it was recorded, beside what a real Delta Lake did with it."""

    @property
    def holds(self) -> bool:
        """Whether something was compared and nothing disagrees."""
        return self.compared.holds

    @cached_property
    def agreement(self) -> ReportedAgreement:
        """What agrees, in words and numbers."""
        return agreement_in(self.compared.document())

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row per replayed transaction: how it ended in the recording, and really.

        Columns: `transaction`, `table`, `command`, `read_version`; `comparison` (match, mismatch,
        not_comparable) with its `reason`; of the recording `recorded_end`, `_version`,
        `_exception`, `_error_class`, `_isolation_level` and `_is_blind_append`, of reality the
        same as `real_...`; `real_message`, the beginning of what Delta said.
        """
        import pandas as pd

        return pd.DataFrame([each.row() for each in self.compared.compared])

    def __str__(self) -> str:
        return "\n".join([self.agreement.headline, *self.agreement.sentences])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        import pandas as pd

        from whitecap.reports.markup.notebook_part import notebook_part

        shown = pd.DataFrame(
            [
                (each.transaction, each.command, each.recorded, each.real, each.comparison)
                for each in self.agreement.transactions
            ],
            columns=["transaction", "command", "simulated", "real Delta", "comparison"],
        )
        return notebook_part(str(self).splitlines(), {"": shown})


@of_its_kinds
def replay(
    run: Run | Sweep | str | Path,
    *,
    transactions: int | None = None,
    window: str | None = None,
    cell: CellChoice | None = None,
    out: str | Path | None = None,
    quiet: bool = False,
) -> Replayed:
    """Force a recorded interleaving on a real Delta Lake, and compare how each transaction ends.

    `run` is a run, the directory of one, a sweep or its place (then of `cell`, as `run` takes it,
    or of the one that its answer names). The versions that show most are replayed, with at most so
    many `transactions`, or those of `window` ("11..12"; of several tables "gold:11..12"). `out` is
    a directory for agreement.json and agreement.csv. The session is kept for the next replay.

    Raises `InvalidInput`, `EnvironmentMissing` without Java 17 or the packages of Spark and Delta,
    and `NotWritten`, which has the result.
    """
    from whitecap.sim.machine.places import refused_places, require_directory, written
    from whitecap.sim.replay.agreement import write_agreement
    from whitecap.sim.replay.history.window import parse_window
    from whitecap.sim.replay.plan import plan_replay
    from whitecap.sim.replay.real.environment import require_delta

    with gathered() as problems:
        with noted(problems):
            transactions = whole_or_none("transactions", transactions, 2)
        problems += refused_places(require_directory, None if out is None else Path(out))
        with noted(problems):
            meant = parse_window(window) if window else None
        chosen = _chosen(run, cell)
    plan = plan_replay(chosen, meant, transactions)
    require_delta()
    compared = played(plan, quiet=quiet)
    replayed = Replayed(compared)
    if out is not None:
        written(replayed, partial(write_agreement, compared), Path(out))
    return replayed


def played(
    plan: ReplayPlan,
    watch: Callable[[ComparedTransaction], None] = lambda _: None,
    *,
    timeout_s: float | None = None,
    quiet: bool = False,
) -> Agreement:
    """What a plan comes to on a real Delta Lake; says on stderr how far it is.

    `watch` is told of each transaction as it ends. A step may take `timeout_s`.
    """
    from whitecap.sim.replay.real.phase_locks import DEFAULT_TIMEOUT_S
    from whitecap.sim.replay.replay import replay as replay_plan
    from whitecap.terminal.progress import progress

    total, ended = len(plan.played), itertools.count(1)
    with progress("replaying", quiet=quiet) as show:
        show(0, total, "starting Spark")

        def tell(compared: ComparedTransaction) -> None:
            watch(compared)
            number = next(ended)
            show(number, total, f"{number} of {total}")

        return replay_plan(plan, watch=tell, timeout_s=timeout_s or DEFAULT_TIMEOUT_S)


def _chosen(run: Run | Sweep | str | Path, cell: CellChoice | None) -> ChosenRun:
    from whitecap.sim.replay.choice import ChosenRun
    from whitecap.sweep_places import chosen_run

    if not isinstance(run, Run | str | PathLike):
        raise InvalidInput([Problem("run", f"needs a run, a sweep or a path, not {run!r}")])
    if not isinstance(run, Run):
        return chosen_run(fspath(run), cell)
    if cell is not None:
        raise InvalidInput([Problem("cell", "a run has no cells")])
    return ChosenRun(run.recording, run.scenario.name)
