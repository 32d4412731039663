"""Scripted participants: an HTTP client with a persona. Talks HTTP and imports analysis, nothing else."""
