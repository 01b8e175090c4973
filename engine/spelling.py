"""Which valid name a misspelt one was probably meant to be."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher

MOST_EDITS = 3
"""However long a name is: with more than these it is another one. Ours."""

LETTERS_PER_EDIT = 3
"""One slip in so many letters. Ours: a word of five letters with two wrong ones is no hint."""

LEAST_TO_SHARE = 3
"""Letters of a word, or of its beginning, that two names have in common."""

_WORDS = re.compile(r"[a-z0-9]+")


def likely_names(name: str, names: Iterable[str]) -> list[str]:
    """The valid names, in any case, that are like a misspelt one, the most alike first.

    Like it are those that are a few slips of the keyboard apart, and those that have all its words,
    or all of whose words it has: `p98_latency` and `latency_p95_ms`, `delta` and `delta-oss-4.4`.
    """
    wanted = name.lower()
    by_lower = {valid.lower(): valid for valid in names}
    alike = (valid for valid in by_lower if _is_alike(wanted, valid))
    ranked = sorted((SequenceMatcher(None, each, wanted).ratio(), each) for each in alike)
    return [by_lower[each] for _, each in reversed(ranked)]


def _is_alike(name: str, valid: str) -> bool:
    return _is_misspelt(name, valid) or _shares_words(name, valid)


def _is_misspelt(name: str, valid: str) -> bool:
    """Whether so few edits lie between them that they are slips; never all of the letters."""
    shorter, longer = sorted((len(name), len(valid)))
    allowed = min(max(1, shorter // LETTERS_PER_EDIT), MOST_EDITS, longer - 1)
    return abs(len(name) - len(valid)) <= allowed and _edits(name, valid) <= allowed


def _shares_words(name: str, valid: str) -> bool:
    """Whether one has all words of the other: some misspelt, but one at least as it begins."""
    given, words = set(_WORDS.findall(name)), set(_WORDS.findall(valid))
    begun = {(word, other) for word in given for other in words if _begins(word, other)}
    if not begun:
        return False
    alike = begun | {(w, other) for w in given for other in words if _is_misspelt(w, other)}
    return given <= {word for word, _ in alike} or words <= {other for _, other in alike}


def _begins(word: str, other: str) -> bool:
    """Whether a word is all of the other or its beginning, but for the s of a plural."""
    stem = word.removesuffix("s") if len(word) > LEAST_TO_SHARE else word
    return len(stem) >= LEAST_TO_SHARE and other.startswith(stem)


def _edits(name: str, valid: str) -> int:
    """How many letters must be put in, left out, changed, or swapped with the next one.

    The restricted Damerau-Levenshtein distance, row by row (Boytsov 2011, section 2.1).
    """
    before: list[int] = []
    last = list(range(len(valid) + 1))
    for at, letter in enumerate(name, start=1):
        row = [at]
        for other_at, other in enumerate(valid, start=1):
            fewest = min(last[other_at] + 1, row[-1] + 1, last[other_at - 1] + (letter != other))
            if at > 1 and other_at > 1 and (letter, name[at - 2]) == (valid[other_at - 2], other):
                fewest = min(fewest, before[other_at - 2] + 1)
            row.append(fewest)
        before, last = last, row
    return last[-1]
