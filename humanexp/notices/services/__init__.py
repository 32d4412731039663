"""Writes of notices."""
