"""The command line: one subcommand per job, nothing but parsing and printing."""

from __future__ import annotations

import click


@click.group()
@click.version_option(package_name="whitecap")
def main() -> None:
    """Simulate and chaos-test concurrent writers on Delta Lake tables."""
