"""Writes of accounts: making, inviting, closing, passwords, sessions."""
