"""Prolific, by its API, and the practice panel of this distribution, which answers in the same way."""
