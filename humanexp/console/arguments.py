"""What commands read from their command line, refused there with a sentence."""

from __future__ import annotations

import math
from argparse import ArgumentTypeError
from collections.abc import Callable

from humanexp.simulation.personas import PERSONAS


def whole_number(low: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        if not (text.isascii() and text.isdigit()) or int(text) < low:
            raise ArgumentTypeError(f"{text!r} is not a whole number of at least {low}")
        return int(text)

    return parse


def persona_mix(text: str) -> dict[str, float]:
    """Shares by persona, from `careful=0.7,random=0.3`."""
    shares: dict[str, float] = {}
    for part in text.split(","):
        name, _, number = (word.strip() for word in part.partition("="))
        try:
            share = float(number)
        except ValueError:
            raise ArgumentTypeError(f"{part.strip()!r} is not written like careful=0.7") from None
        if name not in PERSONAS:
            raise ArgumentTypeError(f"there is no persona {name!r}; there are {', '.join(PERSONAS)}")
        if name in shares:
            raise ArgumentTypeError(f"{name} is named twice")
        if not math.isfinite(share) or share < 0:
            raise ArgumentTypeError(f"the share of {name} is {number}: it must be a number of at least 0")
        shares[name] = share
    if not any(shares.values()):
        raise ArgumentTypeError("one share must be above 0")
    return shares
