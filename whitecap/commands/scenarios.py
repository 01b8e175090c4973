"""`whitecap scenarios`: what comes with Whitecap to run, to check, and to start one's own from."""

from __future__ import annotations

import click

from whitecap.options.mistakes import gathered_with_options


@click.command()
@click.argument("name", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of the list.")
def scenarios(name: str | None, as_json: bool) -> None:
    """List the bundled scenarios, those of a folder, or print the file of the one called NAME.

    To start from one: `whitecap scenarios events > mine.yaml`, then `whitecap run mine.yaml`. Where
    a scenario is asked for, its name will do (`whitecap run events`), unless events.yaml lies in
    the working directory, which goes before. Those of the folder explain are tables for `whitecap
    explain --table`.
    """
    from whitecap.engine.errors import Problem
    from whitecap.sim.bundled import all_bundled, bundled_in, bundled_named, text_to_start_from
    from whitecap.terminal.as_json import print_json
    from whitecap.terminal.scenarios import scenarios_document, show_scenarios

    with gathered_with_options() as problems:
        listed = all_bundled() if name is None else bundled_in(name)
        if name is not None and not listed:
            if as_json:
                problems.append(Problem("", "--json goes with the list"))
            text = text_to_start_from(bundled_named(name))
    if not listed:
        click.echo(text, nl=False)
    elif as_json:
        print_json(scenarios_document(listed))
    else:
        show_scenarios(listed)
