"""What the methods say of a study, read from its stored configuration and rules."""

from __future__ import annotations

from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, JsonValue

from analysis.spec.design import DiscriminationForm

T = TypeVar("T")
#: An empty mapping says as little as none.
Stated = Annotated[T | None, BeforeValidator(lambda value: value or None)]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class Protocol(_Part):
    """How a picture is shown and answered."""

    name: str
    size_px: int
    fixation_ms: int | float
    stimulus_ms: int | float
    blank_frames: int
    mask_ms: int | float
    response_ms: int | float
    background: float
    click_policy: Literal["first", "last"]


class Pairs(_Part):
    """How corruptions are compared."""

    form: DiscriminationForm


class Design(_Part):
    """What a session asks."""

    main_trials: int = 1
    discrimination: Stated[Pairs] = None
    validation: JsonValue = None


class Configuration(_Part):
    """The study file."""

    protocol: Stated[Protocol] = None
    design: Design = Design()


class Rule(_Part):
    """A rule that judges sessions."""

    severity: str
    reason: str


class Rules(_Part):
    """A set of rules; without a name nobody was judged."""

    name: str = ""
    version: int | str = ""
    rule: tuple[Rule, ...] = ()


class AskedStudy(_Part):
    """The study as it stands."""

    configuration: Configuration = Configuration()
    rules: Rules = Rules()
