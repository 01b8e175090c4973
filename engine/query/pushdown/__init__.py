"""Which conditions reach the scan of a table: Spark's optimizer, as far as it decides that.

One relation of a query is asked about, a table or a subquery at its place in the tree of the SQL
text: `conditions.conditions_on` gives the conditions on it alone, as the optimizer leaves them in
the filter above its scan. Nothing is rewritten. A rule that moves a condition down the plan is here
a question from below, put to the query that selects from the relation, and by that to the queries
around it. What goes through all of this is a list of conjuncts, each an expression whose columns
are named as at the place where it has come to. `conditions.Pushing` is what is known beside the
text: the types of columns, and whether the queries around still infer.

The rules, in the order in which Spark's Optimizer.scala applies them:

Operator Optimization before Inferring Filters, until nothing changes
    non_joins         PushPredicateThroughNonJoin: through SELECT lists, GROUP BY, HAVING, windows
    set_operations    the same through UNION, EXCEPT and INTERSECT, with the casts of their sides
    outer_joins       EliminateOuterJoin, PushPredicateThroughJoin: whose rows may be missing
    semi_joins        PushDownLeftSemiAntiJoin, PushLeftSemiLeftAntiThroughJoin
    column_pruning    ColumnPruning: which columns are still there when filters are inferred
    column_types      TypeCoercion (analyzer) and UnwrapCastInBinaryComparison: which casts stand

Infer Filters, once
    constraints       QueryPlanConstraints: what each row of a subquery meets
    inferred          InferFiltersFromConstraints: what follows by columns that are equal

Operator Optimization after Inferring Filters
    conditions        all of the first batch again, for what was inferred too

Push Extra Predicate Through Join, once
    extra_predicates  PushExtraPredicateThroughJoin: what an OR over several tables says of one

`relations` reads the tree: what is joined, what a name of a WITH means, who selects from whom. What
is not modelled errs on one side, as fidelity.md has it: a condition less, so that more is read.

Source: Spark 4.2's Optimizer.scala (defaultBatches, operatorOptimizationBatch); what each rule does
was observed on Delta Lake 4.4.0 (tests/conformance/cases/pushed_*.json, typed_conditions.json).
"""
