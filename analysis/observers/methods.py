"""The methods of a model that was asked in words, in words: from the protocol and the answers that its run kept."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from analysis.observers.controls import Version, said_of_versions
from analysis.observers.position import SURE
from analysis.observers.protocol import VIEWING, AskProtocol
from analysis.observers.questions import AskPlan
from analysis.wording import counted, joined, quoted, with_interval

#: Of a digest, as a sentence bears it; the page and the run have it whole.
_DIGITS = 16
#: What controls show in place of the trial's picture.
_REPLACED = {"grey": "a grey picture", "wrong": "a picture of another category"}


def methods_text(observer: str, asking: Mapping[str, Any]) -> str:
    """One paragraph about one model.

    Parameters
    ----------
    observer : str
        Its name in the figures.
    asking : mapping
        What its run kept: ``protocol`` (`AskProtocol.to_json`), ``summary`` (`AnswerSummary` as plain values),
        ``is_scored`` and ``is_repeatable``. Empty text where there is no protocol, as in runs of earlier versions.
    """
    if "protocol" not in asking:
        return ""
    protocol, found = AskProtocol.from_json(asking["protocol"]), asking["summary"]
    is_scored = bool(asking["is_scored"])
    sentences = (
        *_asked(quoted(observer), protocol, asking, found),
        *(_scored() if is_scored else _decoded(protocol, found)),
        *_read(found, is_scored=is_scored),
        *_repeated(protocol, found),
        *_placed(found),
        *_controlled(found),
        *_versions(found, is_repeatable=bool(asking["is_repeatable"])),
    )
    return " ".join(sentences)


def warnings_of(asking: Mapping[str, Any]) -> list[str]:
    """What a reader of the answers must know first; none of runs of earlier versions."""
    if "protocol" not in asking:
        return []
    found = asking["summary"]
    said = [said_of_versions([Version(**one) for one in found["versions"]])]
    if not asking["is_scored"]:
        said += said_of_decoding(AskProtocol.from_json(asking["protocol"]), found)
    for name, picture in _REPLACED.items():
        one = found[name]
        if one and one["p_value"] < SURE:
            said.append(f"With {picture}, {said_of_control(one)}")
    if found["canaries"] and (found["canaries"]["p_value"] or 1.0) < SURE:
        said.append(said_of_canaries(found["canaries"]))
    errors = found["kinds"].get("error", 0)
    if errors:
        said.append(
            f"The server could not answer {counted(errors, 'question')}, which count as wrong. Start the evaluation "
            "again, and they alone are asked again."
        )
    return [one for one in said if one]


def _asked(observer: str, protocol: AskProtocol, asking: Mapping[str, Any], found: Mapping[str, Any]) -> Iterable[str]:
    plan, kept, trials = protocol.plan, asking["protocol"], found["by_purpose"].get("trial", 0)
    by = (
        "with questions of the experimenter's own choice (custom, which is no published protocol"
        if protocol.is_custom
        else f"by the protocol {protocol.name} (version {protocol.version}"
    )
    yield f"{observer} was asked in words {by}; sha256 {kept['digest'][:_DIGITS]})."
    yield (
        f"Each request showed one picture, as PNG at the size that people saw, without name or metadata, with "
        f"{VIEWING}. {counted(trials, 'stimulus', 'stimuli')} made a trial each: one question, one reply, no majority."
    )
    question = kept["prompts"][plan.wordings[0]].splitlines()[0]
    whose = ", the words that people read" if plan.wordings[0] == "participants" else ""
    style = "words" if plan.style == "words" else "words behind letters"
    order = (
        "so that among pictures of similar visual change the right one was equally often at each place"
        if plan.is_balanced
        else "drawn for each picture"
    )
    yield f"The question was \u201c{question}\u201d{whose}; the labels followed as {style}, in one order, {order}."
    if plan.alternatives:
        yield said_of_alternatives(plan, n_labels=asking.get("n_labels"), foiled=asking.get("foiled"), trials=trials)


def said_of_alternatives(plan: AskPlan, *, n_labels: int | None, foiled: int | None, trials: int) -> str:
    """A sentence about questions that offer fewer labels than there are.

    Parameters
    ----------
    plan : AskPlan
        With alternatives.
    n_labels, foiled : int or None
        Labels that there are, and stimuli whose first foil a classifier gave; None where it is not known.
    trials : int
    """
    of = f" of {n_labels:,}" if n_labels else ""
    times = f"on {min(foiled, trials):,} of {trials:,} pictures" if foiled is not None else ""
    how = alternatives_words(plan.alternatives, plan.foils, times)
    return (
        f"Each question offered {plan.alternatives}{of} labels: {how}. "
        "Shares of right answers compare with no other number of labels."
    )


def alternatives_words(number: int, foils: str, times: str = "") -> str:
    """Which labels questions offer that offer fewer than all, and how often a guess is right."""
    drawn = f"{counted(number - 1, 'other')} drawn at random for each picture from the seed"
    if foils:
        gave = f"{quoted(foils)} where it gave one{f' ({times})' if times else ''}"
        drawn = f"{drawn}, but first of all the wrong answer of {gave}"
    return f"the right one and {drawn}; a guess is right in 1 of {number} ({1 / number:.3f})"


def _decoded(protocol: AskProtocol, found: Mapping[str, Any]) -> Iterable[str]:
    wanted = {
        "off": ", and not to think before it wrote",
        "on": ", and to think before it wrote",
        "server": "",
    }[protocol.thinking]
    yield (
        f"It was asked for replies at temperature {protocol.temperature:g} of at most {protocol.most_tokens:,} "
        f"tokens{wanted}."
    )
    yield from said_of_decoding(protocol, found)


def said_of_decoding(protocol: AskProtocol, found: Mapping[str, Any]) -> list[str]:
    """Sentences about what a server did not grant, and what came of it."""
    granted, said = [json.loads(one) for one in found.get("granted", {})], []
    if any("temperature" not in one for one in granted):
        said.append("The server refused a temperature, and was asked without one: it draws at its own.")
    if protocol.thinking != "server" and any(one.get("thinking") != protocol.thinking for one in granted):
        said.append(
            f"The server does not take a wish that thinking be {protocol.thinking}; it thinks as it does unasked."
        )
    if len(granted) > 1:
        said.append("Its answers were given under more than one decoding.")
    if protocol.thinking == "off" and found.get("tokens_thought"):
        said.append(f"It spent {found['tokens_thought']:,} tokens on thoughts all the same.")
    if found.get("cut_empty"):
        said.append(
            f"{counted(found['cut_empty'], 'reply', 'replies')} reached the most tokens before saying anything, and "
            "count as empty."
        )
    return said


def _scored() -> Iterable[str]:
    yield (
        "It wrote nothing: its answer was drawn among the labels by their log-probabilities as its reply, which makes "
        "it another observer than the same model that writes."
    )


def _read(found: Mapping[str, Any], *, is_scored: bool) -> Iterable[str]:
    if not is_scored:
        yield "A reply counts as a label where it names exactly one of those offered; no model judged replies."
    names = {
        "refusal": "refused", "unreadable": "unreadable", "miss": "empty", "outside": "of a label not offered",
        "error": "errors of the server",
    }  # fmt: skip
    rates = [(name, found["rates"][kind]) for kind, name in names.items() if found["rates"][kind]["count"]]
    if rates:
        said = joined([f"{name} {with_interval(one['share'], one['interval'])}" for name, one in rates])
        yield f"Shares of trials without a label, which count as wrong: {said}."


def _repeated(protocol: AskProtocol, found: Mapping[str, Any]) -> Iterable[str]:
    if found["consistency"]:
        one = found["consistency"]
        yield (
            f"{counted(one['trials'], 'trial')} were asked {one['repeats']} times in all: "
            f"{with_interval(one['agreement'], one['interval'])} of the pairs of answers agree (self-consistency)."
        )
    if len(protocol.plan.wordings) > 1:
        said = joined([f"{name} {share:.3f}" for name, share in found["by_wording"].items()])
        yield f"Accuracy in {len(protocol.plan.wordings)} wordings of the question: {said}."


def _placed(found: Mapping[str, Any]) -> Iterable[str]:
    one = found["position"]
    if not one:
        return
    yield (
        f"{counted(one['pictures'], 'picture')} were shown with all cyclic orders of their labels. {said_of_place(one)}"
    )
    if one["p_value"] < SURE and found["from_picture"] is not None:
        yield (
            f"A place is right as often as any other, so that of the labels that follow the picture "
            f"{found['from_picture']:.3f} are right."
        )


def said_of_place(one: Mapping[str, Any]) -> str:
    """A sentence about a preference for a place, or about none."""
    if one["p_value"] >= SURE:
        return f"The place in the list made no difference that chance would not (p = {one['p_value']:.3f})."
    return (
        f"A share {with_interval(one['share'], one['interval'])} of its labels follows place {one['place']} in the "
        f"list, whatever the picture shows (p = {one['p_value']:.3f})."
    )


def _controlled(found: Mapping[str, Any]) -> Iterable[str]:
    for name, picture in _REPLACED.items():
        one = found[name]
        if one:
            yield f"{counted(one['asked'], 'trial')} were repeated with {picture}: {said_of_control(one)}"
    if found["canaries"]:
        yield said_of_canaries(found["canaries"])


def said_of_control(one: Mapping[str, Any]) -> str:
    """A sentence about a control."""
    said = f"{one['of_trial']} of {counted(one['labels'], 'label')} named what the trial's own picture shows"
    if one["p_value"] < SURE:
        return (
            f"{said}, more than by chance ({one['chance']:.3f}; p = {one['p_value']:.2g}): its answers come from "
            "something other than the picture."
        )
    return f"{said}, no more than by chance ({one['chance']:.3f})."


def said_of_canaries(one: Mapping[str, Any]) -> str:
    """A sentence about questions that were put again at the end."""
    said = (
        f"{counted(one['trials'], 'question')} of the beginning were put again at the end: the answers agree with the "
        f"earlier ones in {one['agreement_at_end']:.3f}"
    )
    if one["p_value"] is None:
        return f"{said}."
    compared = f"these among themselves in {one['agreement_before']:.3f} (p = {one['p_value']:.3f})"
    if one["p_value"] < SURE:
        return f"{said}, {compared}: the model changed meanwhile."
    return f"{said}, {compared}."


def _versions(found: Mapping[str, Any], *, is_repeatable: bool) -> Iterable[str]:
    said = said_of_versions([Version(**one) for one in found["versions"]])
    if said:
        yield said
    elif found["versions"]:
        yield f"It called itself {found['versions'][0]['version']} throughout."
    if not is_repeatable:
        yield "It runs on another's machine, and its answers cannot be reproduced."
