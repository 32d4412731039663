"""What participants see before and after a session."""
