"""Which sessions count: verdicts and their evidence."""
