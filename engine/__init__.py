"""Delta Lake's optimistic concurrency control, without input or output.

From the ground up: `packed` and `values`, `storage` (requests and drivers), `row_store` (rows by
columns), `log` (the format), `dialects` and `refusals` (what differs, what is refused), `sql`
(expressions, predicates, statements), then what decides: `conflicts`, `row_level`, `transaction`;
then those that act: `session`, `query` (what Spark computes), `writing`, `commands` by kind and
`plans` (appends, the short way); and on top `races`, what is built on the engine. What each holds
is in `docs/architecture.md`, the whole order in `tests/house/test_import_direction.py`.
"""
