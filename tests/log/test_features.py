"""Protocols: which features they support, and how they grow."""

import pytest

from whitecap.engine.log.actions import Format, Metadata, Protocol
from whitecap.engine.log.features.protocols import (
    feature_names,
    is_upgrade,
    merged,
    needing_manual_upgrade,
    protocol_for,
    protocol_of_new_table,
    supports,
    unknown_features,
    upgraded_for,
    with_features,
    without_protocol_properties,
)
from whitecap.engine.log.schema import parse_ddl, schema_string


def metadata(ddl: str = "x INT", **configuration: str) -> Metadata:
    settings = {f"delta.{key.replace('__', '.')}": value for key, value in configuration.items()}
    return Metadata("id", Format("parquet", {}), [], settings, schema_string(parse_ddl(ddl)))


def test_old_versions_imply_their_features() -> None:
    assert feature_names(Protocol(1, 2)) == {"appendOnly", "invariants"}
    assert supports(Protocol(1, 4), "changeDataFeed")
    assert not supports(Protocol(1, 5), "columnMapping")
    assert supports(Protocol(2, 5), "columnMapping")
    assert feature_names(Protocol(1, 7, None, ["appendOnly"])) == {"appendOnly"}
    assert feature_names(None) == frozenset()


def test_a_plain_new_table_has_the_default_protocol() -> None:
    assert protocol_of_new_table(metadata()) == Protocol(1, 2)


def test_deletion_vectors_bring_the_lists_and_keep_what_was_implied() -> None:
    expected = Protocol(3, 7, ["deletionVectors"], ["appendOnly", "deletionVectors", "invariants"])
    wanted = metadata(enableDeletionVectors="true")
    assert protocol_of_new_table(wanted) == expected
    assert upgraded_for(Protocol(1, 2), wanted) == expected


def test_row_tracking_needs_domain_metadata_and_no_reader() -> None:
    assert protocol_of_new_table(metadata(enableRowTracking="true")) == Protocol(
        1, 7, None, ["appendOnly", "domainMetadata", "invariants", "rowTracking"]
    )


@pytest.mark.parametrize(
    ("ddl", "configuration", "feature"),
    [
        ("x INT", {"columnMapping__mode": "name"}, "columnMapping"),
        ("x INT", {"checkpointPolicy": "v2"}, "v2Checkpoint"),
        ("x INT", {"enableInCommitTimestamps": "true"}, "inCommitTimestamp"),
        ("x INT", {"enableChangeDataFeed": "true"}, "changeDataFeed"),
        ("x INT", {"constraints__positive": "x > 0"}, "checkConstraints"),
        ("x ARRAY<TIMESTAMP_NTZ>", {}, "timestampNtz"),
        ("x INT, y INT GENERATED ALWAYS AS (x + 1)", {}, "generatedColumns"),
        ("x INT", {"feature__clustering": "supported"}, "clustering"),
    ],
)
def test_properties_and_columns_switch_features_on(
    ddl: str, configuration: dict[str, str], feature: str
) -> None:
    assert supports(protocol_of_new_table(metadata(ddl, **configuration)), feature)
    assert not supports(protocol_of_new_table(metadata()), feature)


WIDENING, SHREDDING = "typeWidening", "variantShredding"
PREVIEWS = [
    ("x INT, v VARIANT", {"feature__variantType-preview": "supported"}, ["variantType-preview"]),
    ("x INT, v VARIANT", {}, ["variantType"]),
    (
        "x INT",
        {"enableTypeWidening": "true", f"feature__{WIDENING}-preview": "supported"},
        [f"{WIDENING}-preview"],
    ),
    (
        "x INT, v VARIANT",
        {"enableVariantShredding": "true"},
        [f"{SHREDDING}-preview", "variantType"],
    ),
    (
        "x INT",
        {"enableVariantShredding": "true", f"feature__{SHREDDING}": "supported"},
        [SHREDDING, "variantType"],
    ),
    ("x INT", {f"feature__{SHREDDING}-preview": "supported"}, [f"{SHREDDING}-preview"]),
]
"""What Delta Lake 4.4.0 was seen to make of them."""


@pytest.mark.parametrize(("ddl", "configuration", "features"), PREVIEWS)
def test_what_stands_in_for_a_feature_keeps_it_from_joining(
    ddl: str, configuration: dict[str, str], features: list[str]
) -> None:
    wanted = metadata(ddl, **configuration)
    created = protocol_of_new_table(wanted)
    assert created.writer_features == ["appendOnly", "invariants", *features]
    assert upgraded_for(created, without_protocol_properties(wanted)) == created


def test_column_mapping_alone_lists_writers_and_numbers_readers() -> None:
    wanted = protocol_of_new_table(metadata(columnMapping__mode="name"))
    assert wanted == Protocol(2, 7, None, ["appendOnly", "columnMapping", "invariants"])


def test_exactly_implied_features_are_written_in_the_old_numbering() -> None:
    assert protocol_for(feature_names(Protocol(2, 5))) == Protocol(2, 5)
    assert merged(Protocol(1, 2), Protocol(1, 4)) == Protocol(1, 4)


def test_adding_what_is_there_changes_nothing() -> None:
    odd = Protocol(3, 7, [], ["invariants", "appendOnly"])
    assert with_features(odd, ["appendOnly"]) is odd


def test_an_upgrade_keeps_every_feature() -> None:
    assert is_upgrade(Protocol(1, 2), Protocol(1, 4))
    assert not is_upgrade(Protocol(1, 4), Protocol(1, 2))
    assert not is_upgrade(Protocol(1, 2), Protocol(1, 7, None, []))


def test_a_new_type_does_not_upgrade_an_existing_table_by_itself() -> None:
    wanted = metadata("x TIMESTAMP_NTZ")
    assert needing_manual_upgrade(Protocol(1, 2), wanted) == ("timestampNtz",)
    assert needing_manual_upgrade(upgraded_for(Protocol(1, 2), wanted), wanted) == ()


def test_versions_can_be_asked_for_by_property_and_are_not_stored() -> None:
    wanted = metadata(minReaderVersion="1", minWriterVersion="4", appendOnly="true")
    assert protocol_of_new_table(wanted) == Protocol(1, 4)
    assert without_protocol_properties(wanted).configuration == {"delta.appendOnly": "true"}


def test_foreign_features_are_named() -> None:
    assert unknown_features(Protocol(3, 7, ["myFeature"], ["myFeature"])) == ("myFeature",)
