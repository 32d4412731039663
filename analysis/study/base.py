"""What the parts of a specification share: frozen values, refused as a whole, with the place of every mistake."""

from __future__ import annotations

import itertools
import json
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Annotated, Literal, Self, TypeVar, Union, get_args, get_origin

from pydantic import (
    BaseModel,
    ConfigDict,
    ModelWrapValidatorHandler,
    SerializerFunctionWrapHandler,
    Strict,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_serializer,
    model_validator,
)
from pydantic.fields import FieldInfo

from analysis.errors import InvalidInput

if TYPE_CHECKING:
    from pydantic._internal._model_construction import ModelMetaclass
else:
    ModelMetaclass = type(BaseModel)

#: Names of tables and settings from the outside in; the place of a refusal. Entries of lists count from 1.
Path = tuple[str | int, ...]
#: What validation is told: the version whose defaults hold, and whether the values lie in a database.
Context = Mapping[str, object] | None
T = TypeVar("T")
_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = 60


@dataclass(frozen=True)
class Must:
    """In the metadata of a setting: what a refusal says that it must be, where its type says too little."""

    be: str


@dataclass(frozen=True)
class Earlier:
    """In the metadata of a setting: files of a version before this one that leave it out mean another value."""

    than: int
    value: object


@dataclass(frozen=True)
class InForm:
    """In the metadata of a setting: it has a field of its own in the form.

    Parameters
    ----------
    label : str
    help : str
    name : str
        Name of the field; empty = that of the setting.
    part : str
        Part of the form in which it stands.
    choices : mapping of str to str
        Words for the values of a choice; "" is the default.
    placeholder : str
        What stands in the empty field; empty = the default.
    rows : int
        Lines of a text field.
    radio : bool
        Whether the choices stand next to one another.
    """

    label: str
    _: KW_ONLY
    help: str = ""
    name: str = ""
    part: str = ""
    choices: Mapping[str, str] | None = None
    placeholder: str = ""
    rows: int = 0
    radio: bool = False


def _as_given(value: T, handler: ValidatorFunctionWrapHandler) -> T:
    """A whole number stays one where a fraction is meant: digests are taken over what was written."""
    handler(value)
    return value


#: To be put last: ``Annotated[float, Field(ge=0, le=1), Number]``.
Number = WrapValidator(_as_given)
#: A tuple that may be given as a list, as files and JSON do.
Names = Annotated[tuple[str, ...], Strict(False), Must("a list of names")]


class refusal(ValueError):
    """What a validator raises: the whole sentence, in which ``{place}`` is the place that is at fault.

    Parameters
    ----------
    sentence : str
    *at : str
        The setting within the model that it is about.
    """

    def __init__(self, sentence: str, *at: str) -> None:
        super().__init__(sentence)
        self.at = at


class _Checked(ModelMetaclass):
    """Makes ``Model(name=value)`` raise InvalidInput; nested models keep telling their place."""

    def __call__(cls: type[T], *args: object, **values: object) -> T:
        try:
            return super().__call__(*args, **values)  # type: ignore[misc, no-any-return]
        except ValidationError as error:
            raise refused(cls, error) from None  # type: ignore[arg-type]


class Spec(BaseModel, metaclass=_Checked):
    """A part of a specification. Unknown settings are refused, and no text is taken for a number."""

    # Validators are built when the first value is read or made, not when the module is imported.
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)

    @classmethod
    def called(cls) -> str:
        """What a refusal calls the whole."""
        return "This"

    @model_validator(mode="wrap")
    @classmethod
    def _of_its_version(
        cls, values: object, handler: ModelWrapValidatorHandler[Self], info: ValidationInfo[Context]
    ) -> Self:
        version = (info.context or {}).get("version")
        if not isinstance(version, int) or not isinstance(values, Mapping):
            return handler(values)
        meant = {name: value for name, value in earlier(cls, version).items() if name not in values}
        made = handler({**meant, **values})
        made.model_fields_set.difference_update(meant)  # nobody stated them: they are not stored
        return made

    def to_dict(self) -> dict[str, object]:
        """Plain values, as JSON has them; `from_dict` is the inverse."""
        return json.loads(json.dumps(self.model_dump()))  # type: ignore[no-any-return]

    @classmethod
    def from_dict(cls, values: Mapping[str, object], *, version: int | None = None) -> Self:
        """Of plain values, as files and JSON have them.

        Parameters
        ----------
        values : mapping
        version : int, optional
            Version of the specification whose defaults hold; None = the newest.

        Raises
        ------
        InvalidInput
            With a sentence for every setting that cannot be used; ``fields`` has them by their place.
        """
        try:
            return cls.model_validate(dict(values), context={"version": version})
        except ValidationError as error:
            raise refused(cls, error) from None

    def but(self, **changes: object) -> Self:
        """The same with some settings changed, and checked again."""
        return self.from_dict({**self.to_dict(), **changes})


class Sparse(Spec):
    """A table that is stored as it was stated: what it leaves out is left out again."""

    @model_serializer(mode="wrap")
    def _stated(self, handler: SerializerFunctionWrapHandler) -> dict[str, object]:
        return {name: value for name, value in handler(self).items() if name in self.model_fields_set}


def earlier(kind: type[BaseModel], version: int) -> dict[str, object]:
    """Settings for which files of this version mean another value than the newest files, and that value."""
    return {
        name: one.value
        for name, info in kind.model_fields.items()
        for one in info.metadata
        if isinstance(one, Earlier) and version < one.than
    }


def refused(kind: type[Spec], error: ValidationError) -> InvalidInput:
    """The refusal of pydantic in this project's words."""
    fields: dict[str, str] = {}
    for one in error.errors(include_url=False):
        why = one.get("ctx", {}).get("error")
        path: Path = (*one["loc"], *(why.at if isinstance(why, refusal) else ()))
        said = str(why).replace("{place}", place_of(path)) if why is not None else ""
        fields.setdefault(place_of(path), said or _sentence(kind, path, one["type"], one["input"]))
    return InvalidInput(" ".join(fields.values()), fields=fields)


def place_of(path: Path) -> str:
    """``design.sessions``; entries of lists by their number, from 1: ``rule.2.kind``."""
    return ".".join(str(part + 1) if isinstance(part, int) else part for part in path)


def _sentence(kind: type[Spec], path: Path, why: str, given: object) -> str:
    place = place_of(path)
    table = f"[{place_of(path[:-1])}]" if len(path) > 1 else kind.called()
    if why == "missing":
        return f"{table} lacks {path[-1]!r}."
    if why == "extra_forbidden":
        owner, _ = _follow(kind, path[:-1])
        known = ", ".join(sorted(names_of(owner))) if owner is not None else "nothing of the kind"
        return f"{table} has no setting {path[-1]!r}; it has: {known}."
    _, info = _follow(kind, path)
    must = expected(info) if info is not None else "another value"
    if must == "a table":
        return f"[{place}] must be a table."
    return f"{place} must be {must}, not {_REPR.repr(given)}."


def names_of(kind: type[BaseModel]) -> list[str]:
    """Names of the settings, as files have them."""
    return [info.alias or name for name, info in kind.model_fields.items()]


def _follow(kind: type[BaseModel], path: Path) -> tuple[type[BaseModel] | None, FieldInfo | None]:
    """The model that stands at the place, and the innermost setting on the way to it."""
    model: type[BaseModel] | None = kind
    info: FieldInfo | None = None
    for part in path:
        if model is None or isinstance(part, int):
            continue
        found = _field(model, part)
        if found is not None:
            info, model = found, model_in(found.annotation)
    return model, info


def _field(model: type[BaseModel], name: str) -> FieldInfo | None:
    """The setting of the model, or of one of its kinds."""
    own = (one for known, one in model.model_fields.items() if name in (known, one.alias))
    of_kinds = (found for kind in model.__subclasses__() if (found := _field(kind, name)) is not None)
    return next(itertools.chain(own, of_kinds), None)


def model_in(annotation: object) -> type[BaseModel] | None:
    """The model that an annotation holds, also in an optional value, a tuple or the values of a table."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next((found for inner in get_args(annotation) if (found := model_in(inner)) is not None), None)


def expected(info: FieldInfo) -> str:
    """What the setting takes: ``a whole number from 1 to 100``."""
    said = next((one.be for one in info.metadata if isinstance(one, Must)), "")
    kind = plain_type(info.annotation)
    if said:
        return said
    if get_origin(kind) is Literal:
        return f"one of {', '.join(map(str, get_args(kind)))}"
    if kind is bool:
        return "true or false"
    if kind is int:
        return f"a whole number{_range(info)}"
    if kind is float:
        return f"a number{_range(info)}"
    if kind is str:
        least, most = bound(info, "min_length"), bound(info, "max_length")
        length = f" of {least} to {most} characters" if least else f" of at most {most} characters"
        return "text" if most is None else f"text{length}"
    return "a list" if get_origin(kind) is tuple else "a table"


def plain_type(annotation: object) -> object:
    """The annotation without None."""
    if get_origin(annotation) in (Union, UnionType):
        return next(inner for inner in get_args(annotation) if inner is not NoneType)
    return annotation


def bound(info: FieldInfo, name: str) -> int | float | None:
    """A limit of the setting, if it has one."""
    return next((getattr(one, name) for one in info.metadata if hasattr(one, name)), None)


def limits(info: FieldInfo) -> tuple[int | float | None, int | float | None]:
    """Least and most, where these are allowed themselves."""
    return bound(info, "ge"), bound(info, "le")


def _range(info: FieldInfo) -> str:
    least, above, most, below = (bound(info, name) for name in ("ge", "gt", "le", "lt"))
    if least is not None and most is not None:
        return f" from {least} to {most}"
    parts: Sequence[str] = [
        f"{words} {value:g}"
        for words, value in (("of at least", least), ("above", above), ("of at most", most), ("below", below))
        if value is not None
    ]
    return f" {' and '.join(parts)}" if parts else ""
