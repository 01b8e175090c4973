"""`whitecap from-log`: a first scenario from the log of a real table."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from whitecap.sim.inferring.drafting import Draft

DEFAULT_COMMITS = 5000


@click.command(name="from-log")
@click.argument("table")
@click.option("--out", type=click.Path(path_type=Path), help="Write it there instead of printing.")
@click.option("--overwrite", is_flag=True, help="Replace the file that lies there.")
@click.option("--store", help="A profile of `whitecap stores`. [default: by where TABLE lies]")
@click.option("--anonymise", is_flag=True, help="Other names and values than the table's.")
@click.option(
    "--commits", type=click.IntRange(min=1), default=DEFAULT_COMMITS, show_default=True,
    help="Read so many of the newest.",
)  # fmt: skip
def from_log(
    table: str, out: Path | None, overwrite: bool, store: str | None, anonymise: bool, commits: int
) -> None:
    """Write a first scenario from the log of the Delta table at TABLE.

    TABLE is a directory or a URI (s3://, gs://, abfss://, hdfs://). Its log is read, nothing is
    written there. Above each figure of the scenario stands how it is known. A log holds no aborted
    transaction: runs of the scenario predict how many there are.
    """
    from whitecap.out_file import require_new, write_out
    from whitecap.sim.inferring.drafting import Options, draft_of
    from whitecap.sim.inferring.observed import observe
    from whitecap.sim.loading.profiles import require_shipped

    if out is not None:
        require_new(out, overwrite=overwrite)
    if store is not None:
        require_shipped(store, "--store")
    name = "" if out is None else out.stem
    observed = observe(table, commits)
    command = shlex.join(["whitecap", "from-log", *([] if anonymise else [observed.place])])
    draft = draft_of(observed, Options(store, anonymise, name, command))
    write_out(out, draft.text, "scenario")
    if out is not None:
        _tell(draft, shlex.quote(str(out)))


def _tell(draft: Draft, file: str) -> None:
    """What is in it, what is not, and what to do now."""
    writers = [
        f"{writer.group.name}: {len(writer.group.commits):,} commits"
        + ("" if writer.window.is_known else ", how long it takes is assumed")
        for writer in draft.writers
    ]
    for lead, lines in (("writers", writers), ("left out", draft.left_out)):
        for at, line in enumerate(lines):
            click.echo(f"{'' if at else lead:<10}{line}")
    click.echo("aborts    none is in a log: runs of the scenario predict them")
    click.echo(f"now       whitecap run {file}; whitecap sweep {file}")
