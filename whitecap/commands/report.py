"""`whitecap report`: figures, tables and one self-contained page from recordings."""

from __future__ import annotations

from pathlib import Path

import click

from whitecap.spark import aggregation_session


@click.command()
@click.argument("directory", type=click.Path(path_type=Path))
@click.option("--master", default="local[*]", show_default=True, help="Spark master.")
def report(directory: Path, master: str) -> None:
    """Draw the figures and the page of DIRECTORY: a sweep's, or one run's.

    Writes DIRECTORY/report: report.html, figures (PNG and SVG) and tables (CSV and Parquet).
    """
    from whitecap.reports.report import build_report

    made = build_report(directory, lambda: aggregation_session(master))
    if made.answer is not None:
        click.echo(f"{made.answer.headline}.")
        for sentence in made.answer.sentences:
            click.echo(f"  {sentence}")
    for figure in made.figures:
        click.echo(f"figure  {figure}")
    click.echo(f"tables  {made.tables}")
    click.echo(f"page    {made.page}")
