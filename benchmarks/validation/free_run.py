"""The last free run on real Delta Lake as a section of `docs/validation.md`.

`make validate-real` runs it and calls this with its `result.json`, which is kept as
`docs/free-run.json`: `make validate` writes the section anew from that.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec

from whitecap.sim.freerun.comparison import FreeRunResult
from whitecap.sim.freerun.page import result_lines

DOCS = Path(__file__).parents[2] / "docs"
KEPT = DOCS / "free-run.json"
HEADING = "## The free run on real Delta Lake"


EARLIER = (
    "An earlier run (2026-11-22, 200 statements each) is why the calibration is as it is: with "
    "all that lies between two windows taken as one distribution, aborts of 54.5, 34.5, 19.3 and "
    "10.4 % were predicted for UPDATE on 2, 4, 8 and 16 partitions and 55.5, 40.5, 26.0 and 14.5 "
    "% observed, all within ranges of up to 9 points but all above; and of the mix no statement "
    "met a ConcurrentDeleteReadException where 0.5 to 10 % had been predicted. Since then jobs "
    "that read the log, of which there are fewer where statements are refused, are told apart "
    "(`docs/decisions.md`), by Delta's source and by runs apart alone, and nothing was changed by "
    "what a run together said. The first run after that (2026-11-22, 300 statements each) "
    "predicted aborts of 57.1, 38.0, 21.8, 12.1 and, of the mix, 19.5 %; observed were 57.7, "
    "38.3, 20.7, 11.7 and 19.7 %; all 17 shares held. It was stopped twice and went on with the "
    "phase that it was at: on 16 partitions by a commit that was lost on the local disk, and at "
    "the mix by a prediction that did not end. What follows is the second one, on a busy machine. "
    "One before it on the same day ended on 4 partitions, since the local disk lost a commit; "
    "such a run is now begun again by itself."
)


def read_result(path: Path) -> FreeRunResult:
    """A result that was written."""
    return msgspec.json.decode(path.read_bytes(), type=FreeRunResult)


def section(kept: Path = KEPT) -> Iterator[str]:
    """Heading, how it was done, what came out."""
    yield HEADING
    yield ""
    yield (
        "Everything above is the simulator against paper and against published figures. Here "
        "threads run real statements on a real table, and the simulator has said before how many "
        "of them will be refused. `make validate-real` repeats it here, `whitecap validate --real` "
        "on a machine of your own."
    )
    yield ""
    yield EARLIER
    yield ""
    if kept.is_file():
        yield from result_lines(read_result(kept))
    else:
        yield "No result is kept yet."
        yield ""


def with_section(page: str, kept: Path = KEPT) -> str:
    """The page with its section about the free run made anew."""
    before, _, rest = page.partition(HEADING)
    _, heading, after = rest.partition("\n## ")
    return before + "\n".join(section(kept)) + heading + after


def main() -> int:
    """Keep the result that is named; exit 1 if a share lies outside of its range."""
    if len(sys.argv) != 2:
        print("error: name the result.json of a free run", file=sys.stderr)
        return 2
    if not Path(sys.argv[1]).is_file():
        print(f"error: {sys.argv[1]} is not there: the free run has not ended", file=sys.stderr)
        return 2
    result = read_result(Path(sys.argv[1]))
    shutil.copyfile(sys.argv[1], KEPT)
    page = DOCS / "validation.md"
    page.write_text(with_section(page.read_text(encoding="utf-8")), encoding="utf-8")
    print(f"docs/validation.md: {len(result.missed)} shares lie outside of their ranges")
    return 0 if result.holds else 1


if __name__ == "__main__":
    sys.exit(main())
