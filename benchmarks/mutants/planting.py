"""Lets one module be imported with a bug in it, in this process.

The bug has to be planted before the module is imported: other modules hold on to its functions.
"""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from types import CodeType, ModuleType

from benchmarks.mutants.mutant import ROOT, Mutant


class _Loader(SourceFileLoader):
    """Compiles the changed source; what Python keeps of compiled modules is not asked."""

    def __init__(self, mutant: Mutant) -> None:
        super().__init__(mutant.module, str(ROOT / mutant.file))
        self._source = mutant.source()

    def get_code(self, fullname: str) -> CodeType:
        del fullname
        return compile(self._source, self.path, "exec", dont_inherit=True)


class _Finder(MetaPathFinder):
    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant

    def find_spec(
        self, fullname: str, path: object, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        del path, target
        if fullname != self._mutant.module:
            return None
        file = str(ROOT / self._mutant.file)
        return spec_from_file_location(fullname, file, loader=_Loader(self._mutant))


def plant(mutant: Mutant) -> None:
    """Import its module with the bug from now on. Raises `RuntimeError` if it is too late."""
    if mutant.module in sys.modules:
        raise RuntimeError(f"{mutant.module} is imported already")
    sys.meta_path.insert(0, _Finder(mutant))
