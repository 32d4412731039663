"""Pages of participants at work, and of who is where."""
