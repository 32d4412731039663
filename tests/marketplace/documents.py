"""MTurk's XML documents, written for tests."""

from __future__ import annotations

from collections.abc import Mapping

SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas"


def question_form(*parts: str) -> str:
    return f'<QuestionForm xmlns="{SCHEMAS}/2017-11-06/QuestionForm.xsd">{"".join(parts)}</QuestionForm>'


def _question(name: str, specification: str, required: bool) -> str:
    return (
        f"<Question><QuestionIdentifier>{name}</QuestionIdentifier>"
        f"<IsRequired>{'true' if required else 'false'}</IsRequired>"
        f"<QuestionContent><Text>What about {name}?</Text></QuestionContent>"
        f"<AnswerSpecification>{specification}</AnswerSpecification></Question>"
    )


def selection_question(
    name: str,
    *choices: str,
    style: str = "radiobutton",
    counts: tuple[int, int] | None = None,
    required: bool = False,
) -> str:
    least_most = ""
    if counts:
        least_most = (
            f"<MinSelectionCount>{counts[0]}</MinSelectionCount><MaxSelectionCount>{counts[1]}</MaxSelectionCount>"
        )
    listed = "".join(
        f"<Selection><SelectionIdentifier>{choice}</SelectionIdentifier><Text>{choice}</Text></Selection>"
        for choice in choices
    )
    specification = (
        f"<SelectionAnswer>{least_most}<StyleSuggestion>{style}</StyleSuggestion>"
        f"<Selections>{listed}</Selections></SelectionAnswer>"
    )
    return _question(name, specification, required)


def free_text_question(name: str, constraints: str = "", *, required: bool = False) -> str:
    return _question(name, f"<FreeTextAnswer>{constraints}</FreeTextAnswer>", required)


def file_question(name: str) -> str:
    sizes = "<MaxFileSizeInBytes>1000</MaxFileSizeInBytes><MinFileSizeInBytes>1</MinFileSizeInBytes>"
    return _question(name, f"<FileUploadAnswer>{sizes}</FileUploadAnswer>", False)


def answer_key(
    scores: Mapping[str, Mapping[tuple[str, ...], int]], mapping: str = "", default: int | None = None
) -> str:
    questions = "".join(
        f"<Question><QuestionIdentifier>{name}</QuestionIdentifier>"
        + "".join(
            "<AnswerOption>"
            + "".join(f"<SelectionIdentifier>{one}</SelectionIdentifier>" for one in selections)
            + f"<AnswerScore>{points}</AnswerScore></AnswerOption>"
            for selections, points in options.items()
        )
        + (f"<DefaultScore>{default}</DefaultScore>" if default is not None else "")
        + "</Question>"
        for name, options in scores.items()
    )
    mapped = f"<QualificationValueMapping>{mapping}</QualificationValueMapping>" if mapping else ""
    return f'<AnswerKey xmlns="{SCHEMAS}/2005-10-01/AnswerKey.xsd">{questions}{mapped}</AnswerKey>'
