"""The demo's numbers: collected once beside the personas' true curves, stored, written as JSON, and told as tables."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

from analysis.findings.model.findings import Findings
from humanexp.console import demo_steps
from humanexp.console.demo_steps import Demo
from humanexp.console.scripted_participants import Cast
from humanexp.console.sites import Addresses
from humanexp.core.errors import existing
from humanexp.core.storage import media_path, write_whole
from humanexp.ledger.figures import payment_summary
from humanexp.places import read_or_create_key
from humanexp.recruiters import money
from humanexp.recruiters.campaigns import live_entries
from humanexp.results.selectors import findings, latest_run
from humanexp.screening.selectors import current_verdicts
from humanexp.simulation.observers import ObserverModel
from humanexp.simulation.personas import LOOK_ALIKE, Honest, personas
from humanexp.studies.selectors import study_by_slug


def true_area(observers: ObserverModel, cast: Cast, corruption: str, seed: int) -> float:
    """Area under the marginal accuracy of the honest participants, lapses and misses included."""
    kinds = personas(observers, seed)
    weights, total = 0, 0.0
    for name, count in cast.counts().items():
        persona = kinds[name]
        if isinstance(persona, Honest):
            total += count * persona.area(corruption)
            weights += count
    return total / weights


def beside_estimates(
    findings: Findings, observers: ObserverModel, cast: Cast, excluded: Mapping[str, bool], seed: int
) -> dict[str, Any]:
    """The `truth` of the demo's JSON.

    Parameters
    ----------
    excluded : mapping
        Whether each participant's session was excluded, by the participant's name.
    """
    kinds = personas(observers, seed)
    curves = [
        {
            "corruption": curve.corruption,
            "property": curve.property,
            "area": (area := true_area(observers, cast, curve.corruption, seed)),
            "estimate": curve.area,
            "interval": curve.interval,
            "inside": curve.interval is not None and curve.interval[0] <= area <= curve.interval[1],
        }
        for curve in findings.human_curves
        if curve.property == "accuracy"
    ]
    similarity = [
        {"pair": one.pair, "alike": set(one.pair) <= LOOK_ALIKE, "verdict": one.verdict}
        for one in findings.similarity
        if one.property == "accuracy"
    ]
    honest = {name for name, persona in cast.persona_of.items() if kinds[persona].is_honest}
    return {
        "curves": curves,
        "similarity": similarity,
        "screening": {
            "personas": cast.counts(),
            "honest_excluded": sum(excluded[name] for name in honest if name in excluded),
            "careless_accepted": sum(not out for name, out in excluded.items() if name not in honest),
        },
    }


_NUMBERS = "demo-numbers.json"


def collect(demo: Demo) -> dict[str, Any]:
    """Everything `analyse` says of the study, and the personas' true curves beside it."""
    run = existing(latest_run(demo.study), "The analysis left no findings: see the Jobs page.")
    found = findings(run)
    sessions = demo.study.sessions.select_related("participant")
    verdicts = current_verdicts(demo.study)
    excluded = {
        session.participant.code: not verdicts[session.pk].accepted for session in sessions if session.pk in verdicts
    }
    return {
        **found.to_json(),
        "payments": dict(payment_summary(demo.study)),
        "truth": beside_estimates(found, demo.observers, demo.cast, excluded, demo.options.seed),
        "notes": [*found.notes, *demo.notes],
    }


def store(numbers: Mapping[str, Any]) -> None:
    write_whole(media_path(_NUMBERS), json.dumps(numbers, sort_keys=True).encode())


def stored() -> dict[str, Any]:
    numbers: dict[str, Any] = json.loads(media_path(_NUMBERS).read_text(encoding="utf-8"))
    return numbers


def print_summary(console: Console, numbers: Mapping[str, Any]) -> None:
    people = Table("people: area under accuracy", "estimate", "95 % interval", "truth", "", box=None, pad_edge=False)
    for curve in numbers["truth"]["curves"]:
        low, high = curve["interval"]
        people.add_row(
            _words(curve["corruption"]),
            f"{curve['estimate']:.3f}",
            f"{low:.3f} – {high:.3f}",
            f"{curve['area']:.3f}",
            "inside" if curve["inside"] else "outside",
        )
    models = Table("models, accuracy", "corruption", "HMRI", "MRSI", box=None, pad_edge=False)
    for row in numbers["comparisons"]:
        if row["property"] == "accuracy":
            models.add_row(row["classifier"], _words(row["corruption"]), f"{row['hmri']:.3f}", f"{row['mrsi']:.3f}")
    alike = Table("alike for people?", "difference", "verdict", "truth", box=None, pad_edge=False)
    for row, true in zip(
        [row for row in numbers["similarity"] if row["property"] == "accuracy"],
        numbers["truth"]["similarity"],
        strict=True,
    ):
        pair = " · ".join(map(_words, row["pair"]))
        alike.add_row(pair, f"{row['difference']:+.3f}", row["verdict"], "alike" if true["alike"] else "different")
    for row in numbers["discrimination"]:
        pair = " · ".join(map(_words, row["pair"]))
        alike.add_row(f"told apart? {pair}", f"{row['correct']} of {row['trials']} right", row["verdict"])
    for table in (people, models, alike):
        console.print(table)
        console.print()
    sessions, payments = numbers["sessions"], numbers["payments"]
    why = ", ".join(f"{reason} {count}" for reason, count in sessions["excluded"].items()) or "nobody"
    console.print(f"Sessions: {sessions['submitted']} submitted, {sessions['accepted']} count; excluded: {why}.")
    owed, fees = (
        money.shown(payments[key], payments.get("currency") or money.USUAL) for key in ("owed_cents", "fee_cents")
    )
    console.print(
        f"Approved: {payments['approved']} people, nobody was rejected. Rewards: {owed}; fees: {fees}. "
        "Scripted participants are no measure of an hour's pay.\n"
    )


def print_addresses(console: Console, addresses: Addresses, recruiter: str) -> None:
    password = read_or_create_key(media_path("keys/demo_password"))[:16]
    researcher = demo_steps.researcher()
    if not researcher.check_password(password):
        researcher.set_password(password)
        researcher.save()
    entry = live_entries(study_by_slug("try-it"))[0]
    for line in (
        f"Console      {addresses.web}/",
        f"Login        {demo_steps.RESEARCHER}   password: {password}",
        f"Dashboard    {addresses.web}/studies/demo/results/",
        f"Take part    {entry}",
        f"{recruiter.capitalize():<12} {getattr(addresses, recruiter)}/",
        "Ctrl-C stops everything.",
    ):
        console.print(line, soft_wrap=True)


def _words(name: str) -> str:
    return name.replace("_", " ")
