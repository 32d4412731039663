"""A study while it is being made: the form, the file that it makes, the file that fills it, the plan as pictures."""

from __future__ import annotations
