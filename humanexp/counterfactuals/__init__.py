"""Pictures made against a model, judged by an oracle."""

from __future__ import annotations
