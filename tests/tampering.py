from __future__ import annotations


def tampered(secret: str) -> str:
    """The same with another last letter, whatever that was: one that is fixed would now and then be the right one."""
    return secret[:-1] + ("B" if secret.endswith("A") else "A")
