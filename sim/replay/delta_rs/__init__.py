"""Conformance cases on the real package deltalake."""
