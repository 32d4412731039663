"""Do so many originals suffice for a design? Answered by the demand that the planner itself goes by."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.design.originals_needed import Demand, demand_of, fewer_comparisons
from analysis.design.validation import validation_demand
from analysis.errors import DesignRefused
from analysis.spec.design import DesignConfig


@dataclass(frozen=True, kw_only=True)
class Sufficiency:
    """Whether a set of pictures is enough for a design, and what would work where it is not.

    Attributes
    ----------
    demand : Demand or None
        Of one participant's sessions, after cuts; None where no session fits.
    cuts : tuple of str
        One sentence for everything that the planner would cut.
    refusal : str
        Why no session fits; empty where one does.
    smaller_comparisons : int
        Where a session of comparisons does not fit: the largest even number of comparisons that does, 0 if none.
    """

    demand: Demand | None
    cuts: tuple[str, ...] = ()
    refusal: str = ""
    smaller_comparisons: int = 0

    @property
    def is_enough(self) -> bool:
        """Whether the design fits as it is."""
        return self.demand is not None and not self.cuts


def sufficiency_of(config: DesignConfig, *, originals: int) -> Sufficiency:
    """Decide whether ``originals`` pictures suffice for a design.

    Parameters
    ----------
    config : DesignConfig
    originals : int
        At least 0.
    """
    try:
        if config.validation is not None:
            packets = max(1, config.sessions // config.validation.answers_per_picture)
            return Sufficiency(
                demand=validation_demand(config, config.validation, originals=originals, packets=packets)
            )
        demand, said = demand_of(config, originals=originals)
    except DesignRefused as error:
        fewer = fewer_comparisons(config, originals=originals)
        return Sufficiency(demand=None, refusal=str(error), smaller_comparisons=fewer)
    return Sufficiency(demand=demand, cuts=tuple(said))
