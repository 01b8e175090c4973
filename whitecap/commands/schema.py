"""`whitecap schema`: the JSON Schema of scenario files, for editors."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import click

from whitecap.options.mistakes import gathered_with_options
from whitecap.options.types import PlaceOf

BEGINS = {
    False: b'{\n "$schema": "https://json-schema.org/draft/2020-12/schema",\n "title": "Whitecap',
    True: b"# Every key of a scenario\n",
}
"""How the schema begins, and the page of all keys."""


@click.command()
@click.option("--out", type=PlaceOf(), help="Write it there instead.")
@click.option("--markdown", is_flag=True, help="All keys with their defaults, as a page, instead.")
def schema(out: Path | None, markdown: bool) -> None:
    """Print the JSON Schema of scenario files: keys, types, bounds, defaults, a sentence each.

    By it an editor with YAML's language server completes and checks a scenario whose first line is

    # yaml-language-server: $schema=scenario.schema.json

    `whitecap schema --out scenario.schema.json` writes that file; it belongs beside the scenario.
    """
    from whitecap.out_file import write_out
    from whitecap.sim.describing.keys import keys_page
    from whitecap.sim.describing.schema import schema_text
    from whitecap.sim.machine.places import refused_places, require_file

    with gathered_with_options() as problems:
        problems += refused_places(partial(require_file, begins=BEGINS[markdown]), out)
    write_out(out, keys_page() if markdown else schema_text(), "schema")
