"""Proof of person: do a person's answers to a few sentinel trials look like people's or like a machine's?

A session's score is a flag for a person to look at. It excludes nobody, enters no curve, and never touches pay.
`docs/proof-of-person.md` says what it can and cannot say.
"""
