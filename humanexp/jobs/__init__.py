"""Long work: the Job row is the one truth."""
