"""A study as one reviewable value: what a study file says, checked, with everything it leaves out filled in."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, Self

from pydantic import (
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)

from analysis.errors import InvalidInput
from analysis.file_names import slug_of
from analysis.labels.files import default_labels, shipped, shipped_names
from analysis.study.analysis_plan import AnalysisPlan
from analysis.study.base import Context, InForm, Must, Names, Spec, earlier, refusal, refused
from analysis.study.design import DesignConfig, DiscriminationDesign
from analysis.study.ethics import Ethics
from analysis.study.protocol import PROTOCOLS, PUBLISHED_PRACTICE, ProtocolConfig, shipped_values
from analysis.study.setup import Ending, SetUp
from analysis.study.terms import Terms
from analysis.study.toml import from_toml, to_toml
from analysis.study.validation import Judging, Wording


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


Population = Literal["people", "scripted"]
#: Any language: its name, script and region, as in "fa", "zh-Hant" or "pt-BR".
LANGUAGE_TAG = r"[a-z]{2,3}(-[A-Z][a-z]{3})?(-([A-Z]{2}|[0-9]{3}))?"
_Slug = Annotated[str, Field(max_length=80), Must("lower-case letters, digits and hyphens, at most 80")]
#: A worker may judge several sets of pictures (ImageNet-D had 1,540 sessions by 679 workers).
_VALIDATION_SESSIONS = 5
#: What other settings say, and where it is said.
_SAID_ELSEWHERE = {
    "sessions_per_participant": "Set max_sessions_per_worker instead of design.sessions_per_participant.",
    "qualification_tries": "How many tries a qualification has stands in the rule set, not in [design].",
}


class StudyConfiguration(Spec):
    """Everything a study is. What cannot be run is refused, with the place of every setting that is at fault."""

    #: The newest version of the specification. A new setting, or a new default, makes the next one (see `Earlier`).
    VERSION: ClassVar[int] = 4

    title: Annotated[
        str,
        Field(min_length=1, max_length=200, description="shown to participants"),
        InForm("Title", help="Participants read it."),
    ]
    stimuli: Annotated[
        str,
        Field(min_length=1, description="name of a complete stimulus set of the protocol's size"),
        InForm("Stimulus set"),
        Must("the name of a stimulus set"),
    ]
    slug: Annotated[
        _Slug,
        Field(description="name in addresses and commands; from the title if left out"),
        InForm("Name in addresses", help="Empty: from the title.", part="record"),
    ] = ""
    family: Annotated[
        _Slug,
        Field(
            description="versions of one study, and studies whose participants must not see one picture twice, share "
            "a family; the slug if left out"
        ),
        InForm("Family", help="Studies of one family never show a person the same picture twice.", part="record"),
    ] = ""
    population: Annotated[
        Population,
        Field(description="or `scripted`; the two never mix"),
        InForm("Who takes part", radio=True, choices={"people": "people", "scripted": "scripted participants"}),
    ] = "people"
    seed: Annotated[
        int,
        Field(ge=0, le=2**63 - 1, description="the plan is a function of stimuli, settings and seed"),
        InForm("Seed", part="record"),
    ] = 0
    protocol: Annotated[
        ProtocolConfig,
        Field(
            description="`geirhos2018-batch1`, `geirhos2018-batch2`, or a table: a `name` and the values that differ "
            "from it"
        ),
        InForm("Protocol"),
    ] = PROTOCOLS["vcr"].config
    design: Annotated[DesignConfig, Field(description="what a session contains")] = DesignConfig()
    rules: Annotated[
        str,
        Field(
            description="for validation `imagenet-d`; or `none`, or, for `create_study`, the path of a rule set of "
            "your own beside the study file; the console takes names alone"
        ),
        InForm("Rules for accepting sessions"),
    ] = "vcr"
    max_sessions_per_worker: Annotated[
        int,
        Field(ge=1, le=100, description="sessions of one person over the whole family; for validation 5"),
        InForm("Sessions one person may do"),
    ] = 1
    gold_originals: Annotated[
        Names,
        Field(
            description="pictures that were checked to be easy; those that all classifiers of `select_gold` named "
            "right if left out, else drawn at random"
        ),
        Must("a list of names of pictures"),
    ] = ()
    consent_version: Annotated[
        str,
        Field(min_length=1, max_length=40, description="version of the consent text"),
        InForm("Version of the consent text", part="texts"),
    ] = "1"
    consent: Annotated[
        str,
        Field(description="what people agree to before they enter; the page's own text if left out"),
        InForm("Consent text of your own", help="Empty: the house text.", part="texts", rows=5),
    ] = ""
    ethics: Annotated[Ethics, Field(description="what people must know before they agree, block by block")] = Ethics()
    debrief: Annotated[
        str,
        Field(description="shown after the last trial; what the study's tasks are about if left out"),
        InForm("Shown after the last trial", part="texts", rows=3),
    ] = ""
    language: Annotated[
        str,
        Field(
            description="language in which the participant's pages and the advertisement begin, whatever the browser "
            "says; readers may change it. `en`, `de`, or the tag of a catalogue of the installation, such as `fa`"
        ),
        InForm("Language of the pages", choices={"en": "English", "de": "Deutsch"}),
        Must("en, de, or the tag of a catalogue"),
    ] = "en"
    calibrate_size: Annotated[
        bool,
        Field(description="ask participants to fit a card on the screen, so that the size of a pixel is known"),
        InForm("Ask for the size of the screen", part="record"),
    ] = False
    setup: Annotated[SetUp, Field(description="what is asked and measured before practice")] = SetUp()
    recruitment: Annotated[Terms, Field(description="what a launch starts from")] = Terms()
    ending: Annotated[Ending, Field(description="what is asked and shown after the last answer")] = Ending()
    analysis: Annotated[
        AnalysisPlan, Field(description="decided before anybody looks, and part of the frozen plan")
    ] = AnalysisPlan()
    labels: Annotated[
        _Slug,
        Field(
            description="name of the labels that people choose among, shipped or of the installation: with it, "
            "`[wanted]` is checked against these; those of the stimulus set if left out"
        ),
    ] = ""
    judging: Annotated[
        Judging, Field(description="validation: both questions and numbered instructions in the study's own words")
    ] = Judging()
    wanted: Annotated[
        dict[str, Wording],
        Field(description="validation: a `definition` and a `link` of the study's own, by label"),
    ] = {}
    spec: Annotated[int, Field(ge=1, description="version of this specification; the newest if left out")] = VERSION

    @classmethod
    def called(cls) -> str:
        return "The study"

    @model_validator(mode="before")
    @classmethod
    def _as_validation_has_it(cls, values: object) -> object:
        """A study of validation has the rules of ImageNet-D, and several sessions a worker."""
        design = values.get("design") if isinstance(values, Mapping) else None
        validation = design.get("validation") if isinstance(design, Mapping) else getattr(design, "validation", None)
        usual = {"rules": "imagenet-d", "max_sessions_per_worker": _VALIDATION_SESSIONS}
        return values if validation is None else {**usual, **values}  # type: ignore[dict-item]

    @field_validator("protocol", mode="before")
    @classmethod
    def _named(cls, values: object, info: ValidationInfo[Context]) -> object:
        """The name of a shipped protocol, or a table with a name and the values that differ from it."""
        if not isinstance(values, str | Mapping):
            return values
        changes = {"name": values} if isinstance(values, str) else {"name": "vcr", **values}
        shipped = PROTOCOLS.get(str(changes["name"]))
        if shipped is None and len(changes) == 1:
            raise refusal(f"There is no protocol {changes['name']!r}; there are: {', '.join(PROTOCOLS)}.")
        if shipped is None:
            return changes
        version = (info.context or {}).get("version")
        return {**shipped_values(shipped.config.name, version=version if isinstance(version, int) else None), **changes}

    @field_validator("design", mode="before")
    @classmethod
    def _said_once(cls, values: object) -> object:
        for name, sentence in _SAID_ELSEWHERE.items():
            if isinstance(values, Mapping) and name in values:
                raise refusal(sentence, name)
        return values

    @field_validator("gold_originals")
    @classmethod
    def _each_once(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        if len(set(names)) != len(names):
            raise refusal("{place} names a picture twice.")
        return names

    @field_validator("labels")
    @classmethod
    def _is_a_name(cls, name: str) -> str:
        if name != slug_of(name):
            raise refusal(f"{{place}} takes lower-case letters, digits and hyphens, not {name!r}.")
        return name

    @field_validator("wanted")
    @classmethod
    def _of_the_labels(cls, words: dict[str, Wording], info: ValidationInfo[Context]) -> dict[str, Wording]:
        named = info.data.get("labels", "")
        if named and named not in shipped_names():
            # Labels of an installation are known to it alone.
            return words
        labels = shipped(named) if named else default_labels()
        for category in words:
            if category not in labels:
                elsewhere = "" if named else ' For labels of your own, name them: labels = "NAME".'
                raise refusal(
                    f"[wanted] has no category {category!r}; there are: {', '.join(labels.ids)}.{elsewhere}", category
                )
        return words

    @field_validator("language")
    @classmethod
    def _is_a_tag(cls, language: str) -> str:
        if re.fullmatch(LANGUAGE_TAG, language) is None:
            raise refusal(f"{{place}} must be a tag such as en, fa, zh-Hant or pt-BR, not {language!r}.")
        return language

    @model_validator(mode="after")
    def _other_languages_are_translations(self) -> Self:
        for code in self.ethics.translations:
            if code == self.language or re.fullmatch(LANGUAGE_TAG, code) is None:
                sentence = f"[ethics.translations] takes tags of languages other than {self.language!r}, not {code!r}."
                raise refusal(sentence, "ethics", "translations", code)
        return self

    @model_validator(mode="after")
    def _judges_what_it_words(self) -> Self:
        if self.judging.to_dict() and self.design.validation is None:
            raise refusal(
                "[{place}] words the questions of a validation, and this study has none: add [design.validation], or "
                "take [{place}] out.",
                "judging",
            )
        return self

    @model_validator(mode="after")
    def _window_is_longer(self) -> Self:
        longer_ms, protocol = self.setup.longer_window_ms, self.protocol
        if longer_ms and protocol.fixed_response_window:
            raise refusal(
                f"{{place}} cannot be offered: the answer window of {protocol.name} is fixed.",
                "setup",
                "longer_window_ms",
            )
        if longer_ms and longer_ms <= protocol.response_ms:
            raise refusal(
                f"{{place}} must be more than the protocol's response_ms, {protocol.response_ms}, not {longer_ms}.",
                "setup",
                "longer_window_ms",
            )
        return self

    @model_validator(mode="after")
    def _named_and_joined(self) -> Self:
        if not self.title.strip():
            raise refusal("{place} must be text of 1 to 200 characters, not empty.", "title")
        slug = self.slug or slug_of(self.title)[:80]
        family = self.family or slug
        for place, name in (("slug", slug), ("family", family)):
            if not name or slug_of(name) != name:
                raise refusal(
                    f"{{place}} must be lower-case letters, digits and hyphens, at most 80, not {name!r}.", place
                )
        if slug == "new":
            raise refusal("{place} must not be 'new': that address makes new studies.", "slug")
        # The model is frozen for everybody else.
        self.__dict__.update(
            slug=slug,
            family=family,
            design=self._published_practice().model_copy(
                update={"sessions_per_participant": self.max_sessions_per_worker}
            ),
        )
        return self

    @model_validator(mode="after")
    def _recruiters_fit(self) -> Self:
        check_recruiters(self.recruitment, self.analysis, self.design)
        return self

    @property
    def recruiter_weights(self) -> dict[str, float]:
        """Share of each recruiter in what is pooled; empty where a single one is planned, or none by name."""
        return shares_of_recruiters(self.recruitment, self.analysis)

    def _published_practice(self) -> DesignConfig:
        """The design; with a protocol whose practice is published, in a single round without a criterion."""
        design = self.design
        if not self.protocol.name.startswith(PUBLISHED_PRACTICE):
            return design
        # What these protocols meant before there was a criterion.
        block = design.discrimination
        if block is not None and block.practice is None:
            block = block.model_copy(update={"practice": earlier(DiscriminationDesign, 1)["practice"]})
            design = design.model_copy(update={"discrimination": block})
        if design.practice_trials is None:
            design = design.model_copy(update={"practice_trials": earlier(DesignConfig, 1)["practice_trials"]})
        return design

    @model_serializer(mode="wrap")
    def _stored(self, handler: SerializerFunctionWrapHandler) -> dict[str, object]:
        values: dict[str, object] = handler(self)
        design = dict(values["design"])  # type: ignore[call-overload]
        values["design"] = {name: value for name, value in design.items() if name not in _SAID_ELSEWHERE}
        # Studies without them are stored as they were before there were any.
        for table in ("ethics", "setup", "ending", "labels", "judging"):
            if not values[table]:
                del values[table]
        if values["spec"] == 1:  # the first version did not say so, and its digests are kept
            del values["spec"]
        return values

    @classmethod
    def from_file_values(cls, values: Mapping[str, object]) -> Self:
        """Of what somebody states now, in a file or a form: without a `spec`, the newest one."""
        return cls._read({"spec": cls.VERSION, **values})

    @classmethod
    def from_dict(cls, values: Mapping[str, object], *, version: int | None = None) -> Self:
        """Of what is stored, maybe by an earlier version, whose defaults hold."""
        return cls._read({"spec": 1, **values})

    @classmethod
    def _read(cls, values: Mapping[str, object]) -> Self:
        version = values["spec"]
        if isinstance(version, bool) or not isinstance(version, int) or not 1 <= version <= cls.VERSION:
            sentence = f"spec must be a whole number from 1 to {cls.VERSION}, not {version!r}."
            raise InvalidInput(sentence, fields={"spec": sentence})
        # A table that is left out has the defaults of this version, too.
        tables = {
            "protocol": "vcr",
            "design": {},
            "recruitment": {},
            "analysis": {},
            "ethics": {},
            "setup": {},
            "ending": {},
        }
        try:
            return cls.model_validate(tables | dict(values), context={"version": version})
        except ValidationError as error:
            raise refused(cls, error) from None

    @classmethod
    def from_toml(cls, text: str, *, source: str = "study.toml") -> Self:
        """Read a study file; a refusal names the file, and the line of every setting that is at fault."""
        return from_toml(cls.from_file_values, text, source=source)

    def to_toml(self) -> str:
        """A study file that gives this configuration again; settings without a value are left out."""
        head = f"# {self.title}: everything the study is. Read it with: python manage.py create_study FILE\n\n"
        version = {"spec": self.spec} if self.spec < self.VERSION else {}
        return head + to_toml(
            {name: value for name, value in self.to_dict().items() if value not in ({}, [])} | version
        )

    def digest(self) -> str:
        """SHA-256 of the canonical JSON of what is stored."""
        return digest_of(self.to_dict())


def digest_of(stored: Mapping[str, object]) -> str:
    """SHA-256 of a study's stored values as they lie there: never of what a later version would make of them."""
    return hashlib.sha256(json.dumps(stored, sort_keys=True).encode()).hexdigest()


def earlier_defaults(study: StudyConfiguration) -> dict[str, object]:
    """Where a study of an earlier version means another value than a new file would, and that value."""
    parts: dict[str, Spec] = {"": study, "design": study.design, "recruitment": study.recruitment}
    parts |= {"protocol": study.protocol, "analysis": study.analysis}
    return {
        f"{name}.{setting}".lstrip("."): value
        for name, part in parts.items()
        for setting, value in earlier(type(part), study.spec).items()
        if getattr(part, setting) == value
    }
