"""What a writer does when the reply to its put of a commit file is lost.

Delta itself never sees the loss: the object store's client sends the request again by itself, and
the writer then finds its own commit in the way. So Delta conflicts with itself, unless its check of
transaction ids is on (`OptimisticTransaction.scala: commit.idempotencyCheck`, off by default).
"""

from __future__ import annotations

from enum import Enum


class LostReply(Enum):
    """The policies. Unknown is not failure."""

    SURFACE = "surface"
    """End as `Unknown`: the caller must find out."""
    RESEND = "resend"
    """Send the same put again, as object store clients do; its own commit may then conflict."""
    RESEND_AND_CHECK = "resend_and_check"
    """Send again, and take a first winner with this transaction's id as success."""


MAX_RESENDS = 10
"""Lost replies to the puts of one version after which the writer gives up as `Unknown`.

A bound of ours, in the order of what object store clients retry; it keeps a run finite.
"""
