"""`whitecap report`: figures, tables and one self-contained page from recordings."""

from __future__ import annotations

import click

from whitecap.options.engine import engine_options
from whitecap.options.mistakes import gathered_with_options
from whitecap.options.types import PlaceOf
from whitecap.sim.machine.places import require_directory
from whitecap.terminal.progress import progress


@click.command()
@click.argument("place", type=PlaceOf(str))
@engine_options
def report(place: str, engine: str | None, master: str | None) -> None:
    """Draw the figures and the page of PLACE: a sweep's, or one run's directory.

    Writes PLACE/report: report.html, figures (PNG and SVG) and tables (CSV and Parquet). Of a
    sweep behind a URI, out/<its last name>/report.
    """
    from whitecap.engine.errors import noted
    from whitecap.reports.report import build_report
    from whitecap.sweep_engine import sweep_engine
    from whitecap.sweep_places import made_in, recorded_runs, require_recorded
    from whitecap.terminal.answer import show_answer
    from whitecap.terminal.console import new_console

    with gathered_with_options() as problems:
        with noted(problems):
            require_recorded(place)
            require_directory(made_in(place) / "report")
        read_on = sweep_engine(engine, master)
    with progress("drawing the report"):
        made = build_report(recorded_runs(place, read_on))
    show_answer(new_console(), made.answer)
    for figure in made.figures:
        click.echo(f"figure  {figure}")
    click.echo(f"tables  {made.tables}")
    click.echo(f"page    {made.page}")
