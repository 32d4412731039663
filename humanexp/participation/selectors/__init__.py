"""Questions about sessions, trials and answers."""
