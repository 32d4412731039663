"""Analysis runs, published trials, the dashboard."""
