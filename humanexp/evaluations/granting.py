"""Which decoding a server is asked for, and what it takes of it: what it refuses is asked otherwise, or left out."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from analysis.observers.protocol import MOST_TOKENS, Thinking

#: Names and ways to say a wish in a call, in the order in which they are tried; an empty one does without.
_Ways = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Wish:
    """The decoding that is asked for."""

    temperature: float = 0.0
    #: of a reply, thoughts included
    most_tokens: int = MOST_TOKENS
    thinking: Thinking = "server"

    @property
    def ways(self) -> dict[str, _Ways]:
        """Each part of the wish as services word it; a reply's length is never left open, for its cost."""
        ways: dict[str, _Ways] = {
            "temperature": ({"temperature": self.temperature}, {}),
            "length": ({"max_tokens": self.most_tokens}, {"max_completion_tokens": self.most_tokens}),
        }
        if self.thinking == "server":
            return ways
        is_on = self.thinking == "on"
        efforts = ("medium",) if is_on else ("none", "minimal")
        ways["effort"] = (*({"reasoning_effort": one} for one in efforts), {})
        ways["template"] = ({"chat_template_kwargs": {"enable_thinking": is_on}}, {})
        return ways


@dataclass
class Terms:
    """What one server is asked for now. Several threads ask at once, and learn from each other's refusals."""

    wish: Wish
    _places: dict[str, int] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def parameters(self) -> dict[str, Any]:
        """Of the next call."""
        with self._lock:
            ways = self.wish.ways
            return {name: value for part in ways for name, value in ways[part][self._places.get(part, 0)].items()}

    def learn(self, sent: Mapping[str, Any], content: bytes) -> bool:
        """Take note of a refusal; whether the same question may now be asked otherwise."""
        refused = _refused(sent, content)
        if refused is None:
            return False
        with self._lock:
            for part, ways in self.wish.ways.items():
                place = self._places.get(part, 0)
                if ways[place].get(refused) == sent[refused]:
                    if place + 1 == len(ways):
                        return False
                    self._places[part] = place + 1
                    return True
        return True  # another thread has learnt it meanwhile

    def granted(self, sent: Mapping[str, Any]) -> dict[str, Any]:
        """The decoding under which a call was answered."""
        found: dict[str, Any] = {"max_tokens": self.wish.most_tokens}
        if "temperature" in sent:
            found["temperature"] = sent["temperature"]
        effort, template = sent.get("reasoning_effort"), sent.get("chat_template_kwargs")
        if effort == "minimal" and template is None:
            found["thinking"] = effort
        elif effort is not None or template is not None:
            found["thinking"] = self.wish.thinking
        return found


def _refused(sent: Mapping[str, Any], content: bytes) -> str | None:
    """The parameter that a refusal names, in its field or in its words; None where it names none that was sent."""
    try:
        told = json.loads(content)
    except ValueError:
        told = {}
    error = told.get("error", told) if isinstance(told, dict) else {}
    error = error if isinstance(error, dict) else {"message": error}
    for said in (str(error.get("param") or ""), str(error.get("message") or error.get("detail") or "")):
        named = [(said.find(name), name) for name in sent if name in said and name not in ("model", "messages")]
        if named:
            return min(named)[1]
    return None
