"""One session of a plan as a strip, and the originals by pool as bars: geometry for SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from analysis.design.plan import SessionPlan

#: Width of the view box, and the gap between two blocks, which people feel as a break.
WIDTH, GAP = 1000.0, 8.0
#: Roles in the order of the legend, and what they are called.
ROLES: Mapping[str, str | Promise] = {
    "practice": _("practice"),
    "qualification": _("qualification"),
    "main": _("main"),
    "clean": _("clean"),
    "gold": _("gold"),
    "negative": _("negative"),
    "consistency": _("shown twice"),
    "person": _("sentinels of persons"),
}


@dataclass(frozen=True)
class Stretch:
    """Trials of one role that follow one another."""

    role: str
    x: float
    width: float


@dataclass(frozen=True)
class Legend:
    role: str
    name: str | Promise
    trials: int


@dataclass(frozen=True, kw_only=True)
class Strip:
    """The first planned session from left to right."""

    stretches: list[Stretch]
    legend: list[Legend]
    blocks: int
    trials: int


def strip_of(plan: SessionPlan) -> Strip:
    blocks = plan.blocks()
    unit = (WIDTH - GAP * max(0, len(blocks) - 1)) / max(1, len(plan.trials))
    stretches = []
    for (block, role), trials in groupby(plan.trials, key=lambda trial: (trial.block, role_of(trial.kind, trial.role))):
        positions = [trial.position for trial in trials]
        stretches.append(Stretch(role, round(positions[0] * unit + block * GAP, 2), round(len(positions) * unit, 2)))
    roles = [role_of(trial.kind, trial.role) for trial in plan.trials]
    legend = [Legend(role, name, roles.count(role)) for role, name in ROLES.items() if role in roles]
    return Strip(stretches=stretches, legend=legend, blocks=len(blocks), trials=len(plan.trials))


def role_of(kind: str, role: str) -> str:
    """The colour of a trial: practice and qualification by their block, the rest by what they are for."""
    if kind in ("practice", "qualification"):
        return kind
    return "consistency" if role.startswith("consistency") else role


@dataclass(frozen=True)
class PoolBar:
    """Originals of one pool beside one another, as a share of all."""

    name: str | Promise
    role: str
    originals: int
    x: float
    width: float


def pool_bars(pools: Sequence[tuple[str, str | Promise, int]], *, everything: int) -> list[PoolBar]:
    """From (role, name, originals) of every pool."""
    bars, x = [], 0.0
    for role, name, originals in pools:
        width = WIDTH * originals / max(1, everything)
        bars.append(PoolBar(name, role, originals, round(x, 2), round(width, 2)))
        x += width
    return bars
