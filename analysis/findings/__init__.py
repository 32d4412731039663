"""Every number of the dashboard, from tables of trials and predictions."""
