"""Environments that hold Whitecap as its users install it, and nothing of this checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
ROOMS = ("engine", "reports", "scenarios", "sim")


def built_wheel(folder: Path) -> Path:
    """The wheel of this checkout, built from a copy of its sources."""
    source = folder / "source"
    tracked = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.split("\0")  # fmt: skip
    for name in filter(None, tracked):
        if name.split("/")[0] in (*ROOMS, "whitecap", "pyproject.toml", "README.md", "LICENSE"):
            _copy(ROOT / name, source / name)
    build = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "-w", str(folder)]
    subprocess.run([sys.executable, "-m", "pip", *build, str(source)], check=True)
    (built,) = folder.glob("whitecap-*.whl")
    return built


def _copy(origin: Path, target: Path) -> None:
    """A file, or a link as a link; what git tracks but is gone is left out."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if origin.is_symlink():
        target.symlink_to(os.readlink(origin))
    elif origin.is_file():
        target.write_bytes(origin.read_bytes())


def new_environment(folder: Path) -> Path:
    """The interpreter of a new environment, whose dependencies and pip are those of this one."""
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    packages = Path(
        subprocess.run(
            [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
            capture_output=True, text=True, check=True,
        ).stdout.strip()
    )  # fmt: skip
    # A plain path entry: the editable install's own .pth file over there is not read.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return python
