"""Whose rules a scenario's writers follow, by the names of dialects."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from whitecap.engine.dialects import DIALECTS


def _known(name: str) -> str:
    if name not in DIALECTS:
        raise ValueError(f"there is no dialect {name!r}: there are {', '.join(DIALECTS)}")
    return name


DialectName = Annotated[str, AfterValidator(_known)]
