"""Every configuration that is accepted changes something, or is refused with the reason."""

from __future__ import annotations

import dataclasses

import pytest

from tests.settings.setting_witnesses import DELTA, WITNESSES
from whitecap.engine.commands import SharedTable, Table, run_statement
from whitecap.engine.errors import UnsupportedFeature
from whitecap.engine.settings import LEFT_OUT, Settings
from whitecap.engine.sql.parsing.parse import parse_statement
from whitecap.engine.storage.memory import MemoryStore, run


def _key(name: str) -> str:
    return name if name.startswith(("spark.", "whitecap.")) else DELTA + name


KEYS = sorted(f.metadata["conf"] for f in dataclasses.fields(Settings) if "conf" in f.metadata)
BY_KEY = {_key(name): witness for name, witness in WITNESSES.items()}


def test_each_setting_has_a_witness() -> None:
    assert sorted(BY_KEY) == KEYS


@pytest.mark.parametrize("key", sorted(BY_KEY))
def test_a_setting_changes_what_is_left(key: str) -> None:
    witness = BY_KEY[key]
    unset = witness.play(witness.base)
    assert witness.play(witness.base) == unset
    assert witness.play({**witness.base, key: witness.value}) != unset


@pytest.mark.parametrize("key", LEFT_OUT)
def test_a_setting_that_is_not_modelled_is_refused_with_the_reason(key: str) -> None:
    left_out = LEFT_OUT[key]
    assert Settings.from_conf({key: left_out.default}) == Settings()
    with pytest.raises(UnsupportedFeature, match=left_out.reason):
        Settings.from_conf({key: "otherwise"})


def test_a_session_default_of_a_property_is_that_of_new_tables() -> None:
    store, shared = MemoryStore(), SharedTable()
    settings = Settings.from_conf({DELTA + "properties.defaults.appendOnly": "true"})
    table = Table("t", shared, settings)
    run(run_statement(parse_statement("CREATE TABLE t (id INT)"), {"t": table}), store)
    made = run(table.log.update(), store).metadata
    assert made is not None
    assert made.configuration == {"delta.appendOnly": "true"}
