"""Whether the simulator's numbers are right: laws that can be worked out, models of others.

`make validate` runs everything and writes `docs/validation.md`; the tests run short forms.
"""
