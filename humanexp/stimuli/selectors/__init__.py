"""Reads of this app: source sets, stimulus sets, and what a set holds."""
