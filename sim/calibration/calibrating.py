"""From samples to the text of a profile that was loaded once, as whoever uses it will."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

import yaml

from whitecap.sim.calibration.contention import fitted_at_key
from whitecap.sim.calibration.profile import Calibration, profile_document
from whitecap.sim.calibration.samples import Sample
from whitecap.sim.loading.profiles import check_profile


def calibrated(samples: Sequence[Sample], place: str, like: str) -> str:
    """A profile as YAML, dated today. Raises `InvalidInput`: there are too few samples."""
    today = datetime.now(UTC).date().isoformat()
    calibration = Calibration(samples, place, today, like)
    profile = profile_document(calibration)
    at_key = fitted_at_key(calibration, profile)
    if at_key is not None:
        profile["put_if_absent"]["at_key"] = at_key
    text = yaml.safe_dump(profile, sort_keys=False, allow_unicode=True, width=100)
    check_profile(text)
    return text
