"""The researcher's console and the commands that need every app."""
