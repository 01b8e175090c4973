"""Checked scenarios as others show them: pull-request comments, annotations of a CI service."""
