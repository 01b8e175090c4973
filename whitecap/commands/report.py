"""`whitecap report`: figures, tables and one self-contained page from recordings."""

from __future__ import annotations

from pathlib import Path

import click

from whitecap.engine_options import engine_options
from whitecap.sim.machine.places import require_directory
from whitecap.terminal.progress import progress


@click.command()
@click.argument("directory", type=click.Path(path_type=Path))
@engine_options
def report(directory: Path, engine: str | None, master: str | None) -> None:
    """Draw the figures and the page of DIRECTORY: a sweep's, or one run's.

    Writes DIRECTORY/report: report.html, figures (PNG and SVG) and tables (CSV and Parquet).
    """
    from whitecap.reports.report import build_report
    from whitecap.sweep_engine import measuring, sweep_engine
    from whitecap.terminal.answer import show_answer
    from whitecap.terminal.console import new_console

    require_directory(directory / "report")
    with progress("drawing the report"):
        made = build_report(directory, measuring(sweep_engine(engine, master)))
    show_answer(new_console(), made.answer)
    for figure in made.figures:
        click.echo(f"figure  {figure}")
    click.echo(f"tables  {made.tables}")
    click.echo(f"page    {made.page}")
