"""Delta Lake's optimistic concurrency control, without input or output.

From the ground up: `values`, `storage` (requests and drivers), `log` (the format), `sql`
(expressions, predicates, statements), then what decides: `conflicts`, `row_level`, `transaction`;
then those that act: `session`, `query` (what Spark computes), `writing`, `commands` by kind; and on
top `races`, what is built on the engine. The whole order is in
`tests/house/test_import_direction.py`.
"""
