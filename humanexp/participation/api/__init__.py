"""The participant's API."""
