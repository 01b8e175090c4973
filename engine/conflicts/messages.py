"""Delta's own words for each conflict, as verdicts.

Source: `DeltaErrors.scala` (`concurrentAppendException` and its neighbours) and the templates of
`error/delta-error-classes.json`; `ConflictChecker.scala: getPrettyPartitionMessage`.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from whitecap.engine.conflicts.current import CurrentTransaction
from whitecap.engine.conflicts.winner import WinningCommit
from whitecap.engine.isolation import IsolationLevel
from whitecap.engine.log.actions import CommitInfo, PartitionValues
from whitecap.engine.log.schema import Schema
from whitecap.engine.outcomes import Verdict
from whitecap.engine.rules import ConflictException, Rule

_DOC_LINK = "https://docs.delta.io/latest/concurrency-control.html"
"""`DeltaErrors.generateDocsLink(conf, "/concurrency-control.html")` of an unmodified Delta."""

_APPEND = (
    "Transaction conflict detected. a concurrent <operation> added data to table <tableName>"
    " committed at version <version>. The concurrent operation modified data<in>"
    " that should have been read by this operation. Please retry the operation."
    " Refer to <docLink> for more information."
)
_DELETE_READ = (
    "Transaction conflict detected, a concurrent <operation> deleted data from table <tableName>"
    " (committed at version <version>) that this transaction read."
)
_DELETE_DELETE = (
    "Transaction conflict detected, a concurrent <operation> deleted data from table <tableName>"
    " (committed at version <version>) that this transaction attempted to delete."
)
_DELETED = (
    " The concurrent operation deleted data<in> that was read by this operation."
    " Please retry the operation. Refer to <docLink> for more information."
)
_SEE = "<conflictingCommit>\nRefer to <docLink> for more details."

_TEMPLATES = {
    ConflictException.CONCURRENT_APPEND: ("DELTA_CONCURRENT_APPEND", _APPEND),
    ConflictException.CONCURRENT_DELETE_READ: (
        "DELTA_CONCURRENT_DELETE_READ",
        _DELETE_READ + _DELETED,
    ),
    ConflictException.CONCURRENT_DELETE_DELETE: (
        "DELTA_CONCURRENT_DELETE_DELETE",
        _DELETE_DELETE + _DELETED,
    ),
    ConflictException.CONCURRENT_TRANSACTION: (
        "DELTA_CONCURRENT_TRANSACTION",
        "ConcurrentTransactionException: This error occurs when multiple streaming queries are"
        " using the same checkpoint to write into this table. Did you run multiple instances of the"
        " same streaming query at the same time?" + _SEE,
    ),
    ConflictException.METADATA_CHANGED: (
        "DELTA_METADATA_CHANGED",
        "MetadataChangedException: The metadata of the Delta table <tableName> has been changed by"
        " a concurrent update. Please try the operation again." + _SEE,
    ),
    ConflictException.PROTOCOL_CHANGED: (
        "DELTA_PROTOCOL_CHANGED",
        "ProtocolChangedException: The protocol version of the Delta table has been changed by a"
        " concurrent update. <additionalInfo>" + _SEE,
    ),
    ConflictException.CONCURRENT_WRITE: (
        "DELTA_CONCURRENT_WRITE",
        "ConcurrentWriteException: A concurrent transaction has written new data since the current"
        " transaction read the table. Please try the operation again." + _SEE,
    ),
}

_RETRY = "Please try the operation again."
_RETRY_UPGRADED = (
    "Upgrading all your concurrent writers to use the latest Delta Lake may avoid this error."
    " Please upgrade and then retry this operation again."
)
"""Where the level lets blind appends be, and a winner that appends does not say whether it is."""
_AFTER_EXAMPLE = f" (for example <file>) by a concurrent update. {_RETRY}{_SEE}"

_BY_EXAMPLE = {
    **_TEMPLATES,
    ConflictException.CONCURRENT_APPEND: (
        "DELTA_CONCURRENT_APPEND",
        "ConcurrentAppendException: Files were added to <partition> by a concurrent update."
        " <retryMsg>" + _SEE,
    ),
    ConflictException.CONCURRENT_DELETE_READ: (
        "DELTA_CONCURRENT_DELETE_READ",
        "ConcurrentDeleteReadException: This transaction attempted to read one or more files that"
        " were deleted" + _AFTER_EXAMPLE,
    ),
    ConflictException.CONCURRENT_DELETE_DELETE: (
        "DELTA_CONCURRENT_DELETE_DELETE",
        "ConcurrentDeleteDeleteException: This transaction attempted to delete one or more files"
        " that were deleted" + _AFTER_EXAMPLE,
    ),
    ConflictException.METADATA_CHANGED: (
        "DELTA_METADATA_CHANGED",
        "MetadataChangedException: The metadata of the Delta table has been changed by a concurrent"
        f" update. {_RETRY}{_SEE}",
    ),
    ConflictException.CONCURRENT_WRITE: (
        "DELTA_CONCURRENT_WRITE",
        "ConcurrentWriteException: A concurrent transaction has written new data since the current"
        f" transaction read the table. {_RETRY}\nRefer to <docLink> for more details.",
    ),
}
"""Those of Delta 3.3. Source: `error/delta-error-classes.json` of delta-spark_2.12-3.3.2."""

_EMPTY_DIRECTORY = (
    "This happens when multiple writers are writing to an empty directory. Creating the table ahead"
    " of time will avoid this conflict. "
)
"""What `protocolChangedException` adds where the winner made version 0."""

# Order of the fields of Delta's `CommitInfo` class, which is their order in its JSON.
_COMMIT_INFO_FIELDS = (
    "inCommitTimestamp",
    "timestamp",
    "operation",
    "operationParameters",
    "readVersion",
    "isolationLevel",
    "isBlindAppend",
    "operationMetrics",
    "userMetadata",
    "tags",
    "engineInfo",
    "txnId",
)


def file_verdict(
    rule: Rule,
    current: CurrentTransaction,
    winner: WinningCommit,
    values: PartitionValues | None,
    path: str,
) -> Verdict:
    """A conflict about a file, which names its partition where it gives the values of one."""
    if current.tells_conflicts_by_example:
        return _example_verdict(rule, current, winner, values, path)
    error_class, template = _TEMPLATES[rule.exception]
    partition = partition_hint(values, current.partition_schema)
    parameters = {
        "operation": winner.operation or "TRANSACTION",
        "tableName": current.table_name,
        "version": str(winner.version),
        "docLink": _DOC_LINK,
    }
    if partition is None:
        error_class, place = f"{error_class}.WITHOUT_HINT", ""
    else:
        error_class, place = f"{error_class}.WITH_PARTITION_HINT", f" in the partition {partition}"
        parameters["partitionValues"] = partition
    message = _fill(f"[{error_class}] {template}", {**parameters, "in": place})
    return Verdict(
        rule, error_class, message, winner.version, path, parameters, partition=partition
    )


def _example_verdict(
    rule: Rule,
    current: CurrentTransaction,
    winner: WinningCommit,
    values: PartitionValues | None,
    path: str,
) -> Verdict:
    """The same in the words of Delta 3.3. Source: its `ConflictChecker.scala`."""
    error_class, template = _BY_EXAMPLE[rule.exception]
    partition = partition_hint(values, current.partition_schema)
    place = "the root of the table" if partition is None else f"partition {partition}"
    parameters = {"conflictingCommit": conflicting_commit(winner, True), "docLink": _DOC_LINK}
    match rule.exception:
        case ConflictException.CONCURRENT_APPEND:
            parameters |= {"partition": place, "retryMsg": _retry(current, winner)}
        case ConflictException.CONCURRENT_DELETE_READ if values is not None:
            parameters["file"] = f"{path} in {place}"
        case _:
            parameters["file"] = path
    message = _fill(f"[{error_class}] {template}", parameters)
    return Verdict(
        rule, error_class, message, winner.version, path, parameters, partition=partition
    )


def _retry(current: CurrentTransaction, winner: WinningCommit) -> str:
    commit_info = winner.commit_info
    says = commit_info is not None and commit_info.is_blind_append is not None
    lets_appends_be = current.isolation_level is IsolationLevel.WRITE_SERIALIZABLE
    return _RETRY if says or winner.removes or not lets_appends_be else _RETRY_UPGRADED


def commit_verdict(
    rule: Rule, current: CurrentTransaction, winner: WinningCommit, evidence: str
) -> Verdict:
    """A conflict with a winner as a whole, which quotes the winner's commitInfo."""
    by_example = current.tells_conflicts_by_example
    error_class, template = (_BY_EXAMPLE if by_example else _TEMPLATES)[rule.exception]
    quoted = conflicting_commit(winner, by_example)
    parameters = {"conflictingCommit": quoted, "docLink": _DOC_LINK}
    if "<tableName>" in template:
        parameters["tableName"] = current.table_name
    if "<additionalInfo>" in template:
        made_table = winner.commit_info is not None and winner.version == 0
        parameters["additionalInfo"] = _EMPTY_DIRECTORY if made_table else ""
    message = _fill(f"[{error_class}] {template}", parameters)
    return Verdict(rule, error_class, message, winner.version, evidence, parameters)


def domain_verdict(winner: WinningCommit, domain: str) -> Verdict:
    """The conflict about a metadata domain: thrown with a plain text, but under its error class.

    Source: `ConflictChecker.scala: checkIfDomainMetadataConflict`.
    """
    error_class, _ = _TEMPLATES[Rule.DOMAIN_METADATA.exception]
    text = f"A conflicting metadata domain {domain} is added."
    return Verdict(Rule.DOMAIN_METADATA, error_class, text, winner.version, domain)


def conflicting_commit(winner: WinningCommit, raw_parameters: bool = False) -> str:
    """How messages quote a winner: its commitInfo as JSON, or nothing if it has none.

    `raw_parameters`: the texts of its parameters come without quotes, as Delta 3.3 quotes them.
    """
    if winner.commit_info is None:
        return ""
    return "\nConflicting commit: " + _commit_info_json(winner.commit_info, raw_parameters)


def _commit_info_json(commit_info: CommitInfo, raw_parameters: bool) -> str:
    """A commitInfo as `JsonUtils.toJson` writes it, in the order of `actions.scala: CommitInfo`."""
    values = msgspec.to_builtins(commit_info)
    if raw_parameters and values.get("operationParameters"):
        given = values["operationParameters"].items()
        raw = {k: msgspec.Raw(v.encode()) if isinstance(v, str) else v for k, v in given}
        values["operationParameters"] = raw
    shown = ((name, values[name]) for name in _COMMIT_INFO_FIELDS if values.get(name) is not None)
    return msgspec.json.encode(dict(shown)).decode()


def partition_hint(values: PartitionValues | None, schema: Schema) -> str | None:
    """`[column=value, ...]` in partition order; `None` where there is nothing to tell.

    Source: `ConflictChecker.scala: getPrettyPartitionMessage`.
    """
    if not schema.fields or not values:
        return None
    shown = (f"{field.name}={_shown(values.get(field.physical_name))}" for field in schema)
    return "[" + ", ".join(shown) + "]"


def _shown(value: str | None) -> str:
    return "null" if value is None else value


def _fill(template: str, parameters: Mapping[str, str]) -> str:
    for name, value in parameters.items():
        template = template.replace(f"<{name}>", value)
    return template
