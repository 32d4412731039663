"""Several recruiters in one study: what their places and weights must be, across the tables of a study file."""

from __future__ import annotations

from analysis.spec.analysis_plan import AnalysisPlan
from analysis.spec.base import refusal
from analysis.spec.design import DesignConfig
from analysis.spec.terms import Terms


def check_recruiters(recruitment: Terms, analysis: AnalysisPlan, design: DesignConfig) -> None:
    """Raises the refusal of a study whose recruiters could not be pooled as it says."""
    places, weights = recruitment.places, analysis.recruiter_weights
    if weights and set(weights) != set(places):
        raise refusal(
            "{place} must name the same recruiters as recruitment.places: "
            f"{', '.join(sorted(places)) or 'which names none'}.",
            "analysis",
            "recruiter_weights",
        )
    if sum(places.values()) > design.sessions:
        raise refusal(
            f"{{place}} must be no more together than the {design.sessions} sessions of the design, not "
            f"{sum(places.values())}.",
            "recruitment",
            "places",
        )
    if len(places) > 1 and analysis.estimand == "answers":
        raise refusal(
            "{place} must be categories or people where several recruiters are pooled: their people are weighted.",
            "analysis",
            "estimand",
        )


def shares_of_recruiters(recruitment: Terms, analysis: AnalysisPlan) -> dict[str, float]:
    """Weights as stated, or in proportion to the planned places, with sum 1; empty without a second recruiter."""
    stated = analysis.recruiter_weights or recruitment.places
    total = sum(stated.values())
    return {name: stated[name] / total for name in sorted(stated)} if len(stated) > 1 else {}
