"""The web side of HumanExp: a Django project whose apps are stations on the way from picture to figure."""

from __future__ import annotations
