"""The names of the commit protocols; what each asks for and in which order: `sim/store/protocols/`.

A protocol says how one of two rivals for a version comes to lose.
"""

from __future__ import annotations

from enum import StrEnum


class CommitProtocol(StrEnum):
    """The protocols that a store's log can be written by."""

    CONDITIONAL_PUT = "conditional_put"
    """One put-if-absent of `N.json`: delta-rs on S3; Delta's GCSLogStore by its precondition."""
    SINGLE_DRIVER = "single_driver"
    """Delta's S3SingleDriverLogStore: look, then write; only the driver's own lock excludes."""
    DYNAMODB = "dynamodb"
    """Delta's S3DynamoDBLogStore: a conditional item in DynamoDB decides, then a copy."""
    RENAME = "rename"
    """Delta's HDFSLogStore and AzureLogStore: a temporary file, renamed without overwriting."""
    CATALOG = "catalog"
    """Catalog-managed commits: a staged file, ratified by a catalog, published later."""
