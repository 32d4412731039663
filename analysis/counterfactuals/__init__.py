"""Counterfactual pictures: made against a classifier, kept while an oracle sees the same object, and scored.

A new generator or oracle is one class in a file of its own and one line in `specifications`.
"""
