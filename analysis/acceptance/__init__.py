"""Whether a session counts: ``judge(record, rules) -> Verdict``, pure, versioned, blind to the outcome."""
