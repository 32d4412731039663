"""Classifiers run on the same stimuli."""
