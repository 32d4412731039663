"""Signed differences of performance: models beside people, from raw answers, without a smoother in between."""
