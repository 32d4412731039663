"""Classifiers run on the same stimuli."""

from __future__ import annotations
