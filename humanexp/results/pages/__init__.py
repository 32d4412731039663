"""Views, forms and what pages show."""

from __future__ import annotations
