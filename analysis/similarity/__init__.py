"""Which corruptions are alike: curves compared for equivalence and difference, and same/different or ABX trials."""
