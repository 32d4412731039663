"""Options of the commands that let models answer: how networks decide, and how models are asked in words."""

from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from analysis.classifiers.networks import PRECISIONS
from analysis.energy import Energy
from analysis.errors import InvalidInput
from analysis.observers.kinds import KINDS
from analysis.observers.protocol import (
    CUSTOM,
    MOST_TOKENS,
    MOST_TOKENS_WITH_THOUGHTS,
    THINKING,
    VLM_2026,
    VLM_2026_THINKING,
    AskProtocol,
)
from analysis.observers.questions import WORDINGS, AskPlan
from humanexp.evaluations.budget import Caps
from humanexp.evaluations.observers import Machine
from humanexp.evaluations.services.evaluations import How


@dataclass(frozen=True)
class Asking:
    """How models are asked in words: keywords of `humanexp.evaluations.services.asked_observers.ask`."""

    arguments: Mapping[str, Any]


def add_network_options(parser: ArgumentParser) -> None:
    """Of networks."""
    parser.add_argument("--device", default="cpu", help="cpu (default), cuda or cuda:N")
    parser.add_argument(
        "--precision", choices=PRECISIONS, default="float32", help="of torch networks on CUDA (default: float32)"
    )
    parser.add_argument(
        "--rule",
        choices=["mean", "sum", "max"],
        default="mean",
        help="how the outputs that stand for a label become its score (default: mean)",
    )
    parser.add_argument(
        "--decide",
        choices=["among", "open"],
        default="among",
        help="among: the labels of the pictures compete alone (default); open: outputs that stand for none compete as "
        "well, and where one wins, the answer is `outside`, which is wrong",
    )
    parser.add_argument(
        "--own-labels",
        action="store_true",
        help="decide among the network's own labels (1,000-way); such curves are never compared with people's",
    )
    parser.add_argument(
        "--labels", metavar="FILE", type=Path, help="CSV of a network's own labels: label,category, one row an output"
    )
    parser.add_argument(
        "--kind",
        choices=list(KINDS),
        default="",
        help="of the networks: figures colour and order by it, and means over kinds are taken (default: as known from "
        "adapter string and name)",
    )
    parser.add_argument("--allow-download", action="store_true", help="fetch published weights")


def add_word_options(parser: ArgumentParser) -> None:
    """Of models that are asked in words."""
    words = parser.add_argument_group("models that are asked in words (openai:URL#MODEL or vlm:FOLDER)")
    words.add_argument("--allow-upload", action="store_true", help="the pictures may be sent to the model's host")
    words.add_argument(
        "--thinking",
        choices=THINKING,
        help="off: the model is asked not to think before it writes (default); on: a second observer that does; "
        "server: as it does unasked, which is no longer the protocol",
    )
    words.add_argument(
        "--wordings",
        help=f"of {', '.join(WORDINGS)}; the first decides the answer (custom: describes,shown). With this or any "
        f"option down to --most-tokens, the protocol is no longer {VLM_2026.name}, but {CUSTOM}",
    )
    words.add_argument("--orders", type=int, help="orders of the labels for each stimulus (custom: 2)")
    words.add_argument("--repeats", type=int, help="of each question; needs --temperature (custom: 1)")
    words.add_argument(
        "--letters", action="store_true", default=None, help="options behind letters, instead of bare words"
    )
    words.add_argument(
        "--alternatives",
        type=int,
        metavar="K",
        help="labels that a question offers: the right one and K - 1 others, drawn, so that a guess is right in 1 of "
        "K (custom: all, which are at most 30)",
    )
    words.add_argument(
        "--foils",
        metavar="NAME",
        help="first of the wrong labels offered: what the classifier NAME answered wrongly to the same picture; it "
        "must have answered before",
    )
    words.add_argument("--seed", type=int, help="of the orders and alternatives (custom: 0)")
    words.add_argument("--temperature", type=float, help="above 0, answers are drawn (custom: 0)")
    words.add_argument(
        "--most-tokens",
        type=int,
        help=f"of a reply, thoughts included (custom: {MOST_TOKENS}, with thinking on {MOST_TOKENS_WITH_THOUGHTS})",
    )
    words.add_argument("--most-calls", type=int, default=0, help="cap; needed where the host is another machine")
    words.add_argument("--most-cost", type=float, default=0.0, help="cap, in the currency of the prices")
    words.add_argument("--price-in", type=float, default=0.0, help="of a million tokens of questions")
    words.add_argument("--price-out", type=float, default=0.0, help="of a million tokens of replies")


def how_of(options: Mapping[str, Any]) -> How:
    """How networks decide."""
    return How(
        device=options["device"],
        rule=options["rule"],
        decide=options["decide"],
        own_labels=options["own_labels"],
        labels=options["labels"],
        allow_download=options["allow_download"],
        precision=options["precision"],
        kind=options["kind"],
    )


def asking_of(options: Mapping[str, Any]) -> Asking:
    """How models are asked in words."""
    try:
        protocol = _protocol(options)
    except InvalidInput as error:
        raise CommandError(str(error)) from error
    return Asking(
        {
            "protocol": protocol,
            "caps": Caps(options["most_calls"], options["most_cost"], options["price_in"], options["price_out"]),
            "allow_upload": options["allow_upload"],
            "machine": Machine(device=options["device"], precision=options["precision"]),
        }
    )


#: Options that make a protocol of one's own.
_OWN = ("wordings", "orders", "repeats", "letters", "alternatives", "foils", "seed", "temperature", "most_tokens")


def _protocol(options: Mapping[str, Any]) -> AskProtocol:
    """The published protocol, or what somebody chose instead."""
    chosen = {name: options[name] for name in _OWN if options[name] is not None}
    thinking = options["thinking"]
    if not chosen and thinking != "server":
        return VLM_2026_THINKING if thinking == "on" else VLM_2026
    if "wordings" in chosen:
        chosen["wordings"] = tuple(word.strip() for word in chosen["wordings"].split(","))
    if chosen.pop("letters", False):
        chosen["style"] = "letters"
    usual = MOST_TOKENS_WITH_THOUGHTS if thinking == "on" else MOST_TOKENS
    return AskProtocol(
        temperature=chosen.pop("temperature", 0.0),
        most_tokens=chosen.pop("most_tokens", usual),
        thinking=thinking or "server",
        plan=AskPlan(**chosen),
    )


def add_energy(parser: ArgumentParser) -> None:
    """Options that say what an estimate assumes; without them, what the installation's settings say."""
    usual = settings.ENERGY
    parser.add_argument(
        "--power", type=float, help=f"of the device, in W (default: cpu {usual.cpu_w:g}, cuda {usual.cuda_w:g})"
    )
    parser.add_argument("--other-power", type=float, help=f"of other parts, in W (default: {usual.other_w:g})")
    parser.add_argument("--overhead", type=float, help=f"of the site, at least 1 (default: {usual.overhead:g})")
    parser.add_argument("--carbon", type=float, help=f"kg CO2 a kWh (default: {usual.kg_co2_per_kwh:g})")
    parser.add_argument("--carbon-source", default="", metavar="TEXT", help="where this number is from")


def energy_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """The constants of an `Energy` from these options; refused where they are impossible."""
    given = {
        "power_w": options["power"],
        "other_w": options["other_power"],
        "overhead": options["overhead"],
        "kg_co2_per_kwh": options["carbon"],
        "source": options["carbon_source"],
    }
    found: dict[str, Any] = settings.ENERGY.constants(options.get("device", "cpu"), given)
    Energy(seconds=0, **found)
    return found
