"""Scenario files, store profiles and fault catalogues: data that people read and write."""

from pathlib import Path

SCENARIOS = Path(__file__).parent
"""The folder of the scenarios, store profiles and fault catalogue that come with Whitecap."""
