"""The templates of pages: HTML is escaped, an unknown name is an error."""

from __future__ import annotations

from jinja2 import Environment, PackageLoader, StrictUndefined, Template, select_autoescape


def template(name: str) -> Template:
    """A template of this room by its file name."""
    environment = Environment(
        loader=PackageLoader("whitecap.reports"),
        autoescape=select_autoescape(["html"]),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(name)
