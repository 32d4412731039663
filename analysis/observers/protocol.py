"""How a model was asked in words, as one value: questions, decoding and reading, by name, version and digest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from analysis.errors import InvalidInput
from analysis.observers.questions import HOW, WORDINGS, AskPlan

#: Whether a model is asked to think before it writes; "server": as its server does unasked.
Thinking = Literal["server", "off", "on"]
THINKING: tuple[Thinking, ...] = ("server", "off", "on")
#: Of a reply: one word, or a sentence around it; with thoughts before it.
MOST_TOKENS, MOST_TOKENS_WITH_THOUGHTS = 64, 4096
CUSTOM = "custom"
#: Changes when a reply could be read as something else.
READING = "one-label-1"
VIEWING = "no limit of viewing time"
#: Parts of a plan that protocols of before do not have.
_LATER = ("alternatives", "foils")


@dataclass(frozen=True, kw_only=True)
class AskProtocol:
    """How a model is asked.

    Attributes
    ----------
    name, version : str, int
        "custom" where somebody chose otherwise than a protocol says.
    plan : AskPlan
    temperature : float
        0: the likeliest reply; above: one that is drawn.
    thinking : {"server", "off", "on"}
    most_tokens : int
        Of a reply, thoughts included.
    reading : str
        Name and version of the rule by which replies are read.
    """

    name: str = CUSTOM
    version: int = 0
    plan: AskPlan = field(default_factory=AskPlan)
    temperature: float = 0.0
    thinking: Thinking = "server"
    most_tokens: int = MOST_TOKENS
    reading: str = READING

    def __post_init__(self) -> None:
        if self.temperature < 0 or self.most_tokens < 1 or self.thinking not in THINKING:
            raise InvalidInput(
                "A temperature is 0 or more, a reply has at least one token, and thinking is "
                f"{', '.join(THINKING)}: not {self.temperature}, {self.most_tokens}, {self.thinking!r}."
            )

    @property
    def is_custom(self) -> bool:
        return self.name == CUSTOM

    @cached_property
    def digest(self) -> str:
        """SHA-256 of everything that it says, the texts of its questions included."""
        return _digest(self._content)

    @property
    def _content(self) -> dict[str, Any]:
        told = json.loads(json.dumps({**asdict(self), "prompts": self.prompts}))
        for name in _LATER:  # what was added later is said only where it is used: digests of before stay
            if not told["plan"][name]:
                del told["plan"][name]
        return told  # type: ignore[no-any-return]

    @property
    def prompts(self) -> dict[str, str]:
        """Texts of the questions; `{options}` are the labels."""
        how = HOW[self.plan.style]
        return {name: WORDINGS[name].replace("{how}", how) for name in self.plan.wordings}

    def to_json(self) -> dict[str, Any]:
        """For a run to keep; `from_json` reads it."""
        return {**self._content, "digest": self.digest}

    @classmethod
    def from_json(cls, kept: Mapping[str, Any]) -> AskProtocol:
        """Read what a run kept.

        Raises
        ------
        InvalidInput
            If it is not what its digest says.
        """
        told = {name: value for name, value in kept.items() if name != "digest"}
        found = _digest(told)
        if found != kept["digest"]:
            raise InvalidInput(
                f"The protocol {kept['name']} that was kept has digest {found[:12]}, not {str(kept['digest'])[:12]}: "
                "it was changed since the model was asked. Ask again."
            )
        del told["prompts"]
        plan = dict(told.pop("plan"))
        plan |= {name: tuple(plan[name]) for name in ("wordings", "consistency")}
        return cls(plan=AskPlan(**plan), **told)


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


VLM_2026 = AskProtocol(
    name="vlm-2026",
    version=1,
    plan=AskPlan(
        wordings=("participants", "describes", "shown"), orders=1, repeats=1, style="words", seed=0, is_balanced=True,
        consistency=(200, 5), rotated=100, grey=50, wrong=50, canaries=50,
    ),
    temperature=1.0,
    thinking="off",
)  # fmt: skip
#: The same questions to a second observer: the model that thinks first.
VLM_2026_THINKING = replace(VLM_2026, thinking="on", most_tokens=MOST_TOKENS_WITH_THOUGHTS)
