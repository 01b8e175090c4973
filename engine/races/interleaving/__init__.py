"""Every interleaving of a few statements: played on branches of one table, none twice."""
