"""`python -m whitecap`: the command line, where no script of that name is on the path."""

from __future__ import annotations

from whitecap.cli import main

main()
