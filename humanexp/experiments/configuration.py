"""A study as one reviewable value: read from study.toml, validated, frozen into the database, written out again."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.utils.text import slugify

from analysis.design import DesignConfig
from analysis.errors import InvalidInput
from analysis.protocols import PROTOCOLS, ProtocolConfig, load_protocol
from humanexp.core.errors import InputRefused
from humanexp.experiments.models import Population
from humanexp.experiments.study_toml import from_toml, to_toml
from humanexp.experiments.tasks.wanted import check_wording
from humanexp.experiments.terms import check_storable, check_terms

_TEXTS = ("title", "slug", "family", "population", "stimuli", "rules", "consent_version", "consent", "debrief")
_TABLES = ("protocol", "design", "recruitment", "analysis", "wanted")
#: A worker may judge several sets of pictures (ImageNet-D had 1,540 sessions by 679 workers).
_VALIDATION_SESSIONS = 5


@dataclass(frozen=True, kw_only=True)
class StudyConfiguration:
    """Everything a study is. What cannot be run is refused on construction, naming the field."""

    title: str
    #: name of a stimulus set
    stimuli: str
    #: name in addresses; from the title when empty
    slug: str = ""
    #: versions of one study, and studies whose participants must not overlap, share a family
    family: str = ""
    #: people or scripted: the two never mix in one study
    population: str = Population.PEOPLE.value
    seed: int = 0
    protocol: ProtocolConfig = field(default_factory=lambda: load_protocol("vcr"))
    design: DesignConfig = field(default_factory=DesignConfig)
    #: name of a shipped rule set; for `create_study`, also the path of a TOML file
    rules: str = "vcr"
    max_sessions_per_worker: int = 1
    #: originals that were checked to be easy; empty = those of select_gold, or drawn at random
    gold_originals: tuple[str, ...] = ()
    consent_version: str = "1"
    #: shown before the entry; empty = the page's own text
    consent: str = ""
    #: shown after the last trial
    debrief: str = ""
    #: language of the participant's pages, one of LANGUAGES
    language: str = "en"
    #: ask participants to fit a card on the screen, so that the size of a pixel is known
    calibrate_size: bool = False
    #: terms that a launch starts from; stored and hashed with the rest
    recruitment: Mapping[str, Any] = field(default_factory=dict)
    #: read by results
    analysis: Mapping[str, Any] = field(default_factory=dict)
    #: validation: definitions and links of the study's own, by category
    wanted: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in _TEXTS:
            if not isinstance(getattr(self, name), str):
                raise InvalidInput(f"{name} must be text, not {getattr(self, name)!r}.")
        if not self.title.strip() or len(self.title) > 200:
            raise InvalidInput("title must be 1 to 200 characters long.")
        slug = self.slug or slugify(self.title)[:80]
        if not slug or slugify(slug) != slug or len(slug) > 80:
            raise InvalidInput(f"slug must be lower-case letters, digits and hyphens, at most 80, not {slug!r}.")
        if slug == "new":
            raise InvalidInput("slug must not be 'new': that address makes new studies.")
        object.__setattr__(self, "slug", slug)
        family = self.family or slug
        if slugify(family) != family or len(family) > 80:
            raise InvalidInput(f"family must be lower-case letters, digits and hyphens, at most 80, not {family!r}.")
        object.__setattr__(self, "family", family)
        if not self.stimuli:
            raise InvalidInput("stimuli must name a stimulus set.")
        if self.population not in Population.values:
            raise InvalidInput(f"population must be one of {', '.join(Population.values)}, not {self.population!r}.")
        for name, low, high in (("seed", 0, 2**63 - 1), ("max_sessions_per_worker", 1, 100)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise InvalidInput(f"{name} must be a whole number from {low} to {high}, not {value!r}.")
        if not 1 <= len(self.consent_version) <= 40:
            raise InvalidInput("consent_version must be 1 to 40 characters long.")
        languages = [code for code, _ in settings.LANGUAGES]
        if self.language not in languages:
            raise InvalidInput(f"language must be one of {', '.join(languages)}, not {self.language!r}.")
        if not isinstance(self.calibrate_size, bool):
            raise InvalidInput(f"calibrate_size must be true or false, not {self.calibrate_size!r}.")
        if len(set(self.gold_originals)) != len(self.gold_originals):
            raise InvalidInput("gold_originals names a picture twice.")
        object.__setattr__(self, "wanted", check_wording(self.wanted))
        object.__setattr__(self, "recruitment", check_terms(self.recruitment))
        if self.analysis:
            from analysis.findings.settings import planned_settings

            planned_settings(self.analysis)
        object.__setattr__(
            self,
            "design",
            dataclasses.replace(self.design, sessions_per_participant=self.max_sessions_per_worker),
        )

    def to_dict(self) -> dict[str, Any]:
        """As JSON; `from_dict` is the inverse."""
        values = {name: getattr(self, name) for name in (entry.name for entry in dataclasses.fields(self))}
        design = self.design.to_dict()
        del design["sessions_per_participant"]  # max_sessions_per_worker says it
        del design["qualification_tries"]  # the rule set says it
        return json.loads(  # type: ignore[no-any-return]
            json.dumps(
                {
                    **values,
                    "population": str(self.population),
                    "protocol": self.protocol.to_dict(),
                    "design": design,
                    "recruitment": dict(self.recruitment),
                    "analysis": dict(self.analysis),
                    "wanted": {category: dict(own) for category, own in self.wanted.items()},
                }
            )
        )

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> StudyConfiguration:
        """Build from JSON or TOML values.

        `protocol` may be the name of a shipped one, or a table with a `name` and the values that differ from it. A
        study of validation has defaults of its own: the rules of ImageNet-D, and several sessions a worker.
        """
        names = {entry.name for entry in dataclasses.fields(cls)}
        unknown = sorted(set(values) - names)
        if unknown:
            raise InvalidInput(f"A study has no setting {unknown[0]!r}; it has: {', '.join(sorted(names))}.")
        for name in ("title", "stimuli"):
            if name not in values:
                raise InvalidInput(f"The study lacks {name!r}.")
        check_storable(values)
        given = dict(values)
        if isinstance(given.get("protocol"), str):
            given["protocol"] = {"name": given["protocol"]}
        for name in _TABLES:
            if name in given and not isinstance(given[name], Mapping):
                raise InvalidInput(f"[{name}] must be a table.")
        if "protocol" in given:
            given["protocol"] = _protocol(given["protocol"])
        if "design" in given:
            if "sessions_per_participant" in given["design"]:
                raise InvalidInput("Set max_sessions_per_worker instead of design.sessions_per_participant.")
            if "qualification_tries" in given["design"]:
                raise InvalidInput("How many tries a qualification has stands in the rule set, not in [design].")
            given["design"] = DesignConfig.from_dict(given["design"])
            if given["design"].validation is not None:
                given.setdefault("rules", "imagenet-d")
                given.setdefault("max_sessions_per_worker", _VALIDATION_SESSIONS)
        golds = given.get("gold_originals", ())
        if not isinstance(golds, list | tuple) or not all(isinstance(gold, str) for gold in golds):
            raise InvalidInput("gold_originals must be a list of names of pictures.")
        return cls(**{**given, "gold_originals": tuple(golds)})

    @classmethod
    def from_toml(cls, text: str, *, source: str = "study.toml") -> StudyConfiguration:
        """Read a study file; a refusal names the file and, for syntax, the line."""
        values = from_toml(text, source=source)
        try:
            return cls.from_dict(values)
        except InvalidInput as error:
            raise InputRefused(f"{source}: {error}") from error

    def to_toml(self) -> str:
        """A study file that gives this configuration again; settings without a value are left out."""
        values = self.to_dict()
        head = f"# {self.title}: everything the study is. Read it with: python manage.py create_study FILE\n\n"
        return head + to_toml({name: value for name, value in values.items() if value not in ({}, [])})

    def digest(self) -> str:
        """SHA-256 of the canonical JSON."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()


def _protocol(values: Mapping[str, Any]) -> ProtocolConfig:
    """A shipped protocol with changes, or the lab's own, which gives every value."""
    changes = dict(values)
    name = str(changes.pop("name", "vcr"))
    if name in PROTOCOLS or not changes:
        return load_protocol(name, changes)
    return ProtocolConfig.from_dict({"name": name, **changes})
