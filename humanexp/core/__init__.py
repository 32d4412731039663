"""What every app stands on: accounts, errors, keys, navigation."""
