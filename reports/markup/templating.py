"""The templates of pages: HTML is escaped, an unknown name is an error."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined, Template, select_autoescape

from whitecap.reports.measures.units import units_held


def template(name: str) -> Template:
    """A template of this room by its file name."""
    environment = Environment(
        loader=PackageLoader("whitecap.reports"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["units_held"] = units_held
    return environment.get_template(name)
