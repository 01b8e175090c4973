"""Configuration cannot lie: changing any field of a scenario changes something that is recorded."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cache
from typing import Any, get_args

import pyarrow as pa
import pytest
from pydantic import BaseModel

from tests.protocols.test_protocol_fields import CHANGES as OF_SOME_STORES
from tests.scenario.fault_fields import OF_FAULTS
from tests.scenario.full_scenario import FULL
from tests.scenario.workload_fields import CORRECTOR, ERASER, LOADER, STREAM, UPSERTER, WORKLOAD
from tests.sim.sim_worlds import TABLE
from whitecap.sim.loading import scenario_of
from whitecap.sim.quantities.section import word_of
from whitecap.sim.run import run_scenario
from whitecap.sim.scenario.model import Scenario
from whitecap.sim.scenario.origin import ORIGIN, Sourced
from whitecap.sim.scenario.store import Measured

TWO_TABLES = {"table": None, "tables": {"events": TABLE, "deeds": TABLE}}

CHANGES: dict[str, dict[str, Any]] = {
    "Scenario.seed": {"seed": 2},
    "Scenario.start": {"start": "2026-01-14 23:59:30"},
    "Scenario.duration": {"duration": "110 s"},
    "Scenario.settings": {"settings": {"spark.databricks.delta.history.metricsEnabled": False}},
    "Scenario.table": {"table.initial.rows": 60},
    "Scenario.store": {"store.profile": "azure"},
    "Scenario.faults": {"faults": []},
    "Scenario.writers": {f"{LOADER}.count": 1},
    "Scenario.dialect": {"dialect": "databricks-13.3"},
    "Table.name": {
        "table.name": "deeds",
        **{
            f"writers.{name}.statement": writer["statement"].replace("events", "deeds")
            for name, writer in FULL["writers"].items()
            if "statement" in writer
        },
    },
    "Scenario.tables": {
        **TWO_TABLES,
        f"{STREAM}.streaming.table": "events",
        f"{ERASER}.statement": FULL["writers"]["eraser"]["statement"].replace("events", "deeds"),
    },
    "Streaming.table": {**TWO_TABLES, f"{STREAM}.streaming.table": "deeds"},
    "Table.columns": {"table.schema": TABLE["schema"].replace("DOUBLE", "FLOAT")},
    "Table.exists": {"table.exists": False, "table.initial.rows": 0, "table.log": None},
    "Table.partition_by": {"table.partition_by": []},
    "Table.cluster_by": {"table.partition_by": [], "table.cluster_by": ["country"]},
    "Table.key": {
        "table.schema": TABLE["schema"] + ", other BIGINT",
        "table.key": "other",
        f"{LOADER}.parameters.rows": {"rows": {"count": 5}},
        f"{UPSERTER}.statement": FULL["writers"]["upserter"]["statement"].replace(
            "amount)", "amount, other)"
        ),
    },
    "Table.isolation": {"table.isolation": "WriteSerializable"},
    "Table.properties": {"table.properties": {}},
    "Table.values": {"table.values.country": ["DE", "FR"]},
    "Table.initial": {"table.initial": {"rows": 30}},
    "Table.bytes_per_row": {"table.bytes_per_row": 50},
    "Table.log": {"table.log": None},
    "PastLog.commits": {"table.log": {"commits": 70}},
    "PastLog.rate": {"table.log.rate": "2 per d"},
    "PastLog.retention": {"table.log.retention": "9 d"},
    "PastLog.checkpoint_interval": {"table.log.checkpoint_interval": 2},
    "Domain.among": {"table.values.country": ["DE", "FR", "US"]},
    "Domain.days": {"table.values.date": {"days": 4}},
    "Initial.rows": {"table.initial.rows": 90},
    "Initial.rows_per_file": {"table.initial.rows_per_file": 7},
    "WriterGroup.count": {f"{STREAM}.count": 1},
    "WriterGroup.cluster": {f"{LOADER}.cluster": "etl"},
    "WriterGroup.clock_skew": {f"{LOADER}.clock_skew": "1 min"},
    "WriterGroup.dialect": {f"{LOADER}.dialect": "delta-rs-1.6.6"},
    "ClockSkew.ahead": {f"{LOADER}.clock_skew": {"ahead": "2 s"}},
    "ClockSkew.behind": {f"{LOADER}.clock_skew": {"behind": "2 s"}},
    "ClockSkew.either_way": {f"{LOADER}.clock_skew": {"either_way": "2 s"}},
    "WriterGroup.statement": {f"{ERASER}.statement": "DELETE FROM events WHERE country = :country"},
    "WriterGroup.streaming": {f"{STREAM}.streaming.rows.count": 2},
    "WriterGroup.parameters": {f"{STREAM}.parameters": {"date": "newest"}},
    "WriterGroup.arrival": {f"{LOADER}.arrival": {"open": {"rate": "5 per min"}}},
    "WriterGroup.starts": {f"{LOADER}.starts": "30 s"},
    "WriterGroup.stops": {f"{LOADER}.stops": "50 s"},
    "WriterGroup.compute": {f"{LOADER}.compute": "1 s"},
    "WriterGroup.rerun": {f"{CORRECTOR}.rerun": "none"},
    "Streaming.checkpoint": {f"{STREAM}.streaming.checkpoint": "orders"},
    "Streaming.rows": {f"{STREAM}.streaming.rows.count": 5},
    "Streaming.reads_table": {f"{STREAM}.streaming.reads_table": True},
    "Closed.think": {f"{LOADER}.arrival.closed.think": "6 s"},
    "Open.rate": {f"{CORRECTOR}.arrival.open.rate": "21 per min"},
    "Open.concurrency": {f"{CORRECTOR}.arrival.open.concurrency": 1},
    "Schedule.every": {f"{UPSERTER}.arrival.schedule.every": "11 s"},
    "Schedule.offset": {f"{UPSERTER}.arrival.schedule.offset": "4 s"},
    "Schedule.at": {f"{ERASER}.arrival.schedule.at": ["31 s"]},
    "Arrival.closed": {f"{LOADER}.arrival": "closed"},
    "Arrival.open": {f"{ERASER}.arrival": {"open": {"rate": "2 per min"}}},
    "Arrival.schedule": {f"{LOADER}.arrival": {"schedule": {"every": "9 s"}}},
    "Compute.time": {f"{LOADER}.compute.time": "2 s"},
    "Compute.per_million_rows": {f"{CORRECTOR}.compute.per_million_rows": "9 h"},
    "Compute.per_gib": {f"{CORRECTOR}.compute.per_gib": "9 h"},
    "Rerun.none": {f"{UPSERTER}.rerun": "none"},
    "Rerun.fixed": {f"{CORRECTOR}.rerun": {"fixed": {"wait": "1 s"}}},
    "Rerun.exponential": {f"{UPSERTER}.rerun": {"exponential": {"base": "1 s", "cap": "2 s"}}},
    "FixedRerun.wait": {f"{UPSERTER}.rerun.fixed.wait": "3 s"},
    "FixedRerun.budget": {f"{UPSERTER}.rerun.fixed.budget": 1},
    "FixedRerun.after_unknown": {f"{UPSERTER}.rerun.fixed.after_unknown": True},
    "ExponentialRerun.base": {f"{CORRECTOR}.rerun.exponential.base": "1 s"},
    "ExponentialRerun.cap": {f"{CORRECTOR}.rerun.exponential.cap": "3 s"},
    "ExponentialRerun.jitter": {f"{CORRECTOR}.rerun.exponential.jitter": "equal"},
    "ExponentialRerun.budget": {f"{CORRECTOR}.rerun.exponential.budget": 1},
    "ExponentialRerun.after_unknown": {f"{CORRECTOR}.rerun.exponential.after_unknown": True},
    "Parameter.column": {f"{CORRECTOR}.parameters.day": {"column": "date", "uniform": {}}},
    "Parameter.value": {f"{ERASER}.parameters.country": {"value": "FR"}},
    "Parameter.among": {f"{UPSERTER}.parameters.country.among": ["DE"]},
    "Parameter.uniform": {f"{LOADER}.parameters.country": "uniform"},
    "Parameter.zipf": {f"{LOADER}.parameters.date.zipf.exponent": 3.0},
    "Parameter.newest": {f"{LOADER}.parameters.country.newest.within": 1},
    "Parameter.keys": {f"{CORRECTOR}.parameters.keys.keys.count": 1},
    "Parameter.rows": {f"{LOADER}.parameters.rows.rows.count": 1},
    "Parameter.counter": {f"{CORRECTOR}.parameters.n": {"value": 1}},
    "Zipf.exponent": {f"{LOADER}.parameters.date.zipf.exponent": 2.0},
    "Newest.within": {f"{CORRECTOR}.parameters.day.newest.within": 1},
    "Keys.count": {f"{CORRECTOR}.parameters.keys.keys.count": 3},
    "Keys.choose": {f"{CORRECTOR}.parameters.keys.keys.choose": "uniform"},
    "Rows.count": {f"{UPSERTER}.parameters.rows.rows.count": 6},
    "Rows.existing": {f"{UPSERTER}.parameters.rows.rows.existing": 1.0},
    "Rows.choose": {f"{UPSERTER}.parameters.rows.rows.choose": {"newest": {"within": 1}}},
    "Choice.uniform": {f"{CORRECTOR}.parameters.keys.keys.choose": "uniform"},
    "Choice.zipf": {f"{UPSERTER}.parameters.rows.rows.choose": {"zipf": {"exponent": 2.0}}},
    "Choice.newest": {f"{CORRECTOR}.parameters.keys.keys.choose": "newest"},
    "Distribution.constant": {f"{ERASER}.compute.time": "4 s"},
    "Distribution.uniform": {f"{CORRECTOR}.compute.time.uniform.high": "8 s"},
    "Distribution.exponential": {f"{UPSERTER}.compute.time.exponential.mean": "5 s"},
    "Distribution.lognormal": {f"{LOADER}.compute.time.lognormal.sigma": 0.5},
    "Distribution.quantiles": {
        f"{LOADER}.compute.time": {"quantiles": {"p10": "1 s", "p90": "9 s"}}
    },
    "Uniform.low": {f"{CORRECTOR}.compute.time.uniform.low": "1 s"},
    "Uniform.high": {f"{CORRECTOR}.compute.time.uniform.high": "7 s"},
    "Exponential.mean": {f"{UPSERTER}.compute.time.exponential.mean": "7 s"},
    "Lognormal.median": {f"{LOADER}.compute.time.lognormal.median": "5 s"},
    "Lognormal.sigma": {f"{LOADER}.compute.time.lognormal.sigma": 0.1},
    "Lognormal.mean": {f"{LOADER}.compute.time": {"lognormal": {"mean": "3 s", "cv": 0.3}}},
    "Lognormal.cv": {f"{LOADER}.compute.time": {"lognormal": {"mean": "3 s", "cv": 0.5}}},
    "Quantiles.between": {"store.get.latency.quantiles.between": "logarithmic"},
    "Quantiles.mean": {"store.get.latency.quantiles.mean": "40 ms"},
    "Quantiles.points": {"store.get.latency.quantiles.p50": "30 ms"},
    "Store.profile": {"store.profile": "gcs"},
    "Store.put_if_absent": {"store.put_if_absent": {"exclusive": False}},
    "Store.put": {"store.put.latency": "9 s"},
    "Store.get": {"store.get.latency": "9 ms"},
    "Store.head": {"store.head.latency": "9 ms"},
    "Store.copy_object": {"store.copy.latency": "999 ms"},
    "Store.delete": {"store.delete.latency": "999 ms"},
    "Store.rename": {
        "store.rename": {"latency": "99 ms", "source": "me"},
        "store.log_store.checksum": ["put", "rename"],
    },
    "Store.list": {"store.list.latency": "9 ms"},
    "Store.log_store": {"store.log_store.read": ["get", "get"]},
    "Store.spark": {"store.spark.job": "999 ms"},
    "Store.effect": {"store.effect.share": 0.9},
    "Store.limits": {"store.limits.reads_per_s": 3},
    "Store.client": {"store.client.timeout": "9 s"},
    "ConditionalPut.out": {
        "store.put_if_absent": {
            "out": "99 ms",
            "success": {"back": "9 ms"},
            "loss": {"back": "9 ms"},
        }
    },
    "ConditionalPut.at_key": {"store.put_if_absent.at_key": None},
    "ConditionalPut.success": {"store.put_if_absent.success.back": "99 ms"},
    "ConditionalPut.loss": {"store.put_if_absent.loss.back": "999 ms"},
    "AtKey.success": {"store.put_if_absent.at_key.success": "99 ms"},
    "AtKey.loss": {"store.put_if_absent.at_key.loss": "99 ms"},
    "AtKey.effect_share": {"store.put_if_absent.at_key.effect_share": 0.1},
    "Measured.latency": {"store.head.latency": "99 ms"},
    "Measured.out": {"store.head": {"out": "50 ms", "back": "10 ms"}},
    "Measured.back": {"store.head": {"out": "10 ms", "back": "50 ms"}},
    "Transfer.latency": {"store.get.latency": "99 ms"},
    "Transfer.out": {"store.get": {"out": "50 ms", "back": "10 ms"}},
    "Transfer.back": {"store.get": {"out": "10 ms", "back": "50 ms"}},
    "Transfer.per_mib": {"store.get.per_mib": "30 s"},
    "Listing.latency": {"store.list.latency": "99 ms"},
    "Listing.out": {"store.list": {"out": "50 ms", "back": "10 ms"}},
    "Listing.back": {"store.list": {"out": "10 ms", "back": "50 ms"}},
    "Listing.page_size": {"store.list.page_size": 7},
    "Listing.per_1000_keys": {"store.list.per_1000_keys": "9 s"},
    "LogStore.protocol": {
        "store.log_store.protocol": "single_driver",
        "store.log_store.probe": ["head"],
    },
    "LogStore.before_put": {"store.log_store.before_put": ["head"]},
    "LogStore.after_put": {"store.log_store.after_put": []},
    "LogStore.read": {"store.log_store.read": ["get"]},
    "LogStore.checksum": {"store.log_store.checksum": ["put"]},
    "LogStore.pointer": {"store.log_store.pointer": ["put"]},
    "LogStore.delete": {"store.log_store.delete": ["delete"]},
    "LogStore.commit_lock": {"store.log_store.commit_lock": True},
    "SparkClient.job": {"store.spark.job": "99 ms"},
    "SparkClient.metadata_job": {"store.spark.metadata_job": "9 s"},
    "SparkClient.parallel_reads": {"store.spark.parallel_reads": 1},
    "SparkClient.fast_listing": {"store.spark.fast_listing": True},
    "Answer.latency": {
        "store.put_if_absent": {"success": {"latency": "60 ms"}, "loss": {"latency": "77 ms"}}
    },
    "Answer.back": {
        "store.put_if_absent": {
            "out": "9 ms",
            "success": {"back": "60 ms"},
            "loss": {"back": "50 ms"},
        }
    },
    "EffectPoint.share": {"store.effect.share": 0.1},
    "Limits.writes_per_s": {"store.limits.writes_per_s": 0.1},
    "Limits.reads_per_s": {"store.limits.reads_per_s": 2},
    "Client.timeout": {"store.client.timeout": "20 s"},
    "Client.on_lost_reply": {"store.client.on_lost_reply": "resend"},
    "Client.throttle_retries": {"store.client.throttle_retries": 0},
    "Client.backoff_base": {"store.client.backoff_base": "2 s"},
    "Client.backoff_cap": {"store.client.backoff_cap": "600 ms"},
    "Fault.lost_reply": {"faults": FULL["faults"][1:]},
    "Fault.late_effect": {"faults": FULL["faults"][:1] + FULL["faults"][2:]},
    "Fault.throttling": {"faults": FULL["faults"][:2] + FULL["faults"][3:]},
    "Fault.writer_crash": {"faults": FULL["faults"][:3]},
    "Fault.writers": {"faults": [{**FULL["faults"][2], "writers": ["loader"]}]},
    "Fault.between": {"faults": [{**FULL["faults"][2], "between": ["20 s", "60 s"]}]},
    "LostReply.probability": {"faults": [{"lost_reply": {"probability": 0.5}}]},
    "LostReply.requests": {"faults": [{"lost_reply": {"probability": 0.15, "requests": ["get"]}}]},
    "LateEffect.probability": {"faults": [{"late_effect": {"probability": 0.5, "delay": "5 s"}}]},
    "LateEffect.delay": {"faults": [{"late_effect": {"probability": 0.1, "delay": "6 s"}}]},
    "LateEffect.requests": {
        "faults": [{"late_effect": {"probability": 0.1, "delay": "5 s", "requests": ["put"]}}]
    },
    "Throttling.probability": {"faults": [{"throttling": {"probability": 0.4}}]},
    "Throttling.requests": {"faults": [{"throttling": {"probability": 0.2, "requests": ["get"]}}]},
    "WriterCrash.rate": {"faults": [{"writer_crash": {"rate": "2 per min", "restart": "10 s"}}]},
    "WriterCrash.restart": {"faults": [{"writer_crash": {"rate": "1 per min", "restart": "9 s"}}]},
    **OF_FAULTS,
    **WORKLOAD,
}
"""One change per field, by class and name."""

WITHOUT_EFFECT_ON_RECORDS = {
    "Table.real": "needs a directory: tests/real_table/test_beginning_with_files.py",
    "Table.version": "the same",
    "Table.rows_each": "the same",
    "Scenario.format_version": "says how the file is read",
    "Scenario.name": "a name",
    "Scenario.description": "words",
    "Scenario.warm_up": "cut in analysis: nothing is dropped from the recording",
    "Scenario.expect": "held against the recording afterwards",
    "Scenario.objective": "held against the recording afterwards",
    "Scenario.price": "multiplied with what is recorded: tests/measures/test_costs.py",
    "Price.per_slot_hour": "multiplied with what is recorded: tests/measures/test_costs.py",
    "Price.currency": "a word",
    "Price.requests": "priced from what is recorded: tests/measures/test_costs.py",
    "Scenario.may_change": "says what may be changed: tests/deciding/test_advice.py",
    "Scenario.sweep": "says which scenarios to run",
    "Sweep.axes": "says which scenarios to run",
    "Sweep.replications": "says how often",
    "Fault.description": "words",
    "Restart.description": "words",
    "Restart.source": "words",
    "Fault.source": "words",
    "Store.description": "words",
    "ConditionalPut.exclusive": "needs two puts at one moment: tests/stores/test_lost_commits.py",
    **{
        f"{word_of(model)}.{name}": "words: tests/stores/test_origins.py"
        for model in Sourced.__subclasses__() + Measured.__subclasses__()
        for name in ORIGIN
    },
    **dict.fromkeys(OF_SOME_STORES, "of some stores: tests/protocols/test_protocol_fields.py"),
    **{
        f"Expectation.{name}": "held against the recording afterwards"
        for name in (
            "measure", "writer", "command", "exception", "at_least", "at_most", "equals", "exactly",
            "because", "when",
        )
    },
    **{
        f"StatedObjective.{name}": "held against the recording afterwards"
        for name in ("measure", "of", "at_least", "at_most")
    },
}  # fmt: skip


def _models(model: type[BaseModel], seen: set[type[BaseModel]]) -> Iterator[type[BaseModel]]:
    if model in seen:
        return
    seen.add(model)
    yield model
    for field in model.model_fields.values():
        for part in _types_in(field.annotation):
            yield from _models(part, seen)


def _types_in(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for part in get_args(annotation):
        yield from _types_in(part)


FIELDS = [
    f"{word_of(model)}.{name}" for model in _models(Scenario, set()) for name in model.model_fields
]


def _digest(scenario: Scenario) -> str:
    """Of everything that a run records, and of every byte of its log."""
    run = run_scenario(scenario, requests=True)
    digest = hashlib.sha256()
    for name in sorted(run.recording.tables):
        stream = pa.BufferOutputStream()
        with pa.ipc.new_stream(stream, run.recording.tables[name].schema) as written:
            written.write_table(run.recording.tables[name])
        digest.update(stream.getvalue())
    for key, stored in sorted(run.world.store.objects.items()):
        digest.update(key.encode() + stored.body)
    return digest.hexdigest()


@cache
def _changed_digest(field: str) -> str:
    """Of the scenario with one field changed; made once for all tests of a worker."""
    return _digest(scenario_of(FULL, CHANGES[field]))


@pytest.fixture(scope="module")
def unchanged() -> str:
    return _digest(scenario_of(FULL))


def test_each_field_is_either_changed_here_or_said_to_have_no_effect() -> None:
    assert sorted(FIELDS) == sorted([*CHANGES, *WITHOUT_EFFECT_ON_RECORDS])


def test_the_same_scenario_has_the_same_digest(unchanged: str) -> None:
    assert _digest(scenario_of(FULL)) == unchanged


@pytest.mark.parametrize("field", sorted(CHANGES))
def test_changing_a_field_changes_some_record(field: str, unchanged: str) -> None:
    assert _changed_digest(field) != unchanged


def test_faults_differ_in_each_of_their_fields() -> None:
    """Not only from a scenario without them."""
    fields = [field for field in OF_FAULTS if not field.startswith("Fault.")]
    assert len(set(map(_changed_digest, fields))) == len(fields)
