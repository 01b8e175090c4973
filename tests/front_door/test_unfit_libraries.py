"""Packages that keep Whitecap from working are told by name, with what to do."""

from __future__ import annotations

import subprocess
import sys

from whitecap.exit_codes import ExitCode

EXPLAINS_WITH_COMPILED_PARSERS = """
from sqlglot.parser import Parser

make = Parser.__init__

def make_own(self, *arguments, **options):
    if not type(self).__module__.startswith("sqlglot."):
        raise TypeError("interpreted classes cannot inherit from compiled")
    make(self, *arguments, **options)

Parser.__init__ = make_own

from whitecap.cli import main
main(["explain", "UPDATE t SET a = 1", "DELETE FROM t"])
"""
"""sqlglot's classes as mypyc makes them: those of others that extend them have no objects."""


def test_beside_compiled_parsers_of_sqlglot_it_is_said_which_package_has_to_go() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", EXPLAINS_WITH_COMPILED_PARSERS],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert ended.returncode == ExitCode.ENVIRONMENT_MISSING, ended.stderr
    assert "pip uninstall sqlglotc" in ended.stderr
