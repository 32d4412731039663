"""People, HITs, assignments and the payment ledger."""
