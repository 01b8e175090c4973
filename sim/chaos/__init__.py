"""Campaigns: many runs of drawn variations under faults, judged by oracles, made small if wrong."""
