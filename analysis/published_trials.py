"""Trial files as the field publishes them: one row a trial, one file a subject and session.

The layout is that of Geirhos et al. 2018 (rgeirhos/object-recognition) and of model-vs-human:
``subj, session, trial, rt, object_response, category, condition, imagename``, header in any case, with or without
further columns. ``options``, ``accepted`` and ``competing`` hold ids of labels, separated by blanks: what the trial
offered (empty: all), what is right there, and what competes with it. ``original`` names the picture that the trial's
was made from, where the name of the image does not. Conditions stay text (``c100``, ``bw``, ``128-0-10``); ``na`` is
an answer of its own.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from analysis.errors import TableRefused
from analysis.file_names import composed
from analysis.labels.files import default_labels
from analysis.labels.lists import ACCEPTED, COMPETING, OPTIONS, fault_of, ids_in
from analysis.labels.space import NO_ANSWER, NONE_OF_THESE, LabelSpace
from analysis.tables.reading import read_table
from analysis.tables.trials import TRIALS
from analysis.trial_meaning import PER_SECOND, Kind, Unit, check_times, is_nothing, kinds_of, refuse_twins, spelling_of

if TYPE_CHECKING:
    import pandas as pd

    from analysis.observers.questions import Style

#: Optional column: what the picture of the trial was made from. Several pictures of one condition may share it.
ORIGINAL = "original"
REQUIRED = ("subj", "session", "trial", "object_response", "category", "condition", "imagename")
#: ``0017_nse_s02_0.35_bicycle_10_n03792782_19053.JPEG``: the WordNet id and number name the original.
_ORIGINAL = re.compile(r"(n\d{8}_\d+)\.\w+$")
#: Running number, experiment and subject in front of the name differ between observers of one picture.
_PREFIX = re.compile(r"^\d+_[^_]+_[^_]+_")


@dataclass(frozen=True)
class PublishedTrials:
    """Trials read from files.

    Parameters
    ----------
    trials : pandas.DataFrame
        Schema `analysis.tables.trials.TRIALS`; ``participant`` is the observer, ``condition`` the printed condition.
    observers : dict of str to {"human", "classifier"}
        In order of first appearance.
    files : tuple of (str, str, int)
        Name, sha256 and number of trials of every file.
    digest : str
        sha256 over the files' digests; does not depend on names or order.
    kinds : dict of str to dict of str to int
        Of models whose answers are texts: how many of each kind of answer there are (`observers.scoring.read_answer`).
    notes : tuple of str
        What was decided about the files' meaning, a sentence each.
    """

    trials: pd.DataFrame
    observers: dict[str, Kind]
    files: tuple[tuple[str, str, int], ...]
    digest: str
    kinds: dict[str, dict[str, int]]
    notes: tuple[str, ...] = ()


def digest_of(paths: Sequence[Path]) -> str:
    """Digest by which the same files are recognised, whatever they are called and in whatever order they come.

    Raises
    ------
    TableRefused
        If there is no such file.
    """
    return _joined([_sha256(path) for path in paths])


def read_published_trials(
    paths: Sequence[Path],
    *,
    study: str,
    humans: str = "",
    classifiers: str = "",
    times_in: Unit = "s",
    answers: Sequence[Path] = (),
    style: Style = "words",
    space: LabelSpace | None = None,
    none_offered: bool = False,
    pictured: Collection[str] | None = None,
) -> PublishedTrials:
    """Read and check published trial files; all of them or none.

    Parameters
    ----------
    paths : sequence of Path
        Files of text or Parquet, as `analysis.tables.reading.read_table` takes them.
    study : str
        Value of the column ``study``.
    humans : str
        Pattern (as of file names: ``*``, ``?``, ``[...]``) of observers who are people besides those whose name begins
        with "subject" and those who have reaction times.
    classifiers : str
        Pattern of observers who are none, whatever else they have.
    times_in : {"s", "ms"}
        Unit of ``rt``.
    answers : sequence of Path
        CSV files with the raw texts that models answered about the same pictures: columns ``image`` (the last part of
        ``imagename``) and ``response``. A model is called as its file, without a date in front. Whatever names no label
        is ``na``, and wrong.
    style : {"words", "letters"}
        Whether a letter in these texts names the category at its place in the alphabet.
    space : LabelSpace, optional
        Labels of the trials; by default the product's.
    none_offered : bool
        Whether "none of these" could be answered, ``none``: wrong, and kept apart from no answer. Trials with options
        of their own offer it where these hold ``none``.
    pictured : collection of str, optional
        Names of files of pictures, without folder and suffix: trials and texts about other pictures are left out, and a
        note counts them.

    Raises
    ------
    TableRefused
        Naming file, row (1 = first row after the header), and what to do.
    """
    import pandas as pd

    from analysis.published_pictures import read_answers

    if not paths:
        raise TableRefused("No file was named: give at least one trial file.")
    digests = [_sha256(path) for path in (*paths, *answers)]
    space = space or default_labels()
    frames = [_read(path, times_in, space, none_offered=none_offered) for path in paths]
    left_out: list[str] = []
    if pictured is not None:
        frames, left_out = _of_pictures(frames, {composed(name) for name in pictured})
    kinds, otherwise = {}, []
    for path in answers:
        read = read_answers(path, pd.concat(frames[: len(paths)]), style, space, is_partly=pictured is not None)
        frames.append(read.trials)
        kinds[read.model] = read.kinds
        if read.otherwise:
            n = sum(read.kinds.values())
            otherwise.append(
                f"{read.model}: {len(read.otherwise)} of {n:,} texts are read otherwise than their authors read them "
                f"(pred_label): {'; '.join(read.otherwise)}."
            )
    paths = [*paths, *answers]
    _refuse_doubles(paths, frames)
    raw = pd.concat(frames, ignore_index=True)
    has_times = raw["rt_ms"].notna().groupby(raw["subj"].astype(str), sort=False).any()
    observers, notes = kinds_of({str(name): bool(any_) for name, any_ in has_times.items()}, humans, classifiers)
    for path, frame in zip(paths, frames, strict=True):
        of_people = frame[frame["subj"].map(observers) == "human"]
        check_times(
            path.name,
            of_people["session"] + " of " + of_people["subj"],
            of_people["rt_ms"].astype("float64") / 1000,
            times_in,
        )
    refuse_twins("subj", list(observers))
    spelling, same = spelling_of(raw["condition"].tolist())
    condition = raw["condition"].map(lambda text: spelling.get(text, text)).astype("string")
    named = _originals(raw["imagename"].astype(str), raw["condition"], condition)
    originals = raw[ORIGINAL].fillna("").mask(lambda cells: cells == "", named) if ORIGINAL in raw else named
    response = raw["object_response"]
    trials = TRIALS.validate(
        pd.DataFrame(
            {
                "study": study,
                "participant": raw["subj"],
                "session": raw["subj"] + "/" + raw["session"],
                "position": raw["trial"],
                "block": "0",
                "task": "categorisation",
                "role": "main",
                "original": originals,
                "stimulus": condition + "/" + named,
                "category": raw["category"],
                "corruption": study,
                "visual_change": raw["visual_change"],
                "condition": condition,
                "second_original": "",
                "second_stimulus": "",
                "second_corruption": "",
                "response": response,
                "correct": _is_right(raw).map({True: "true", False: "false"}),
                "rt_ms": raw["rt_ms"],
                "timing_ok": "",
                "accepted": "true",
                "simulated": "false",
                **{name: raw.get(name, "") for name in TRIALS.names if name not in _FILLED},
            },
            dtype="string",
        ),
        source="the files together",
    )
    return PublishedTrials(
        trials=trials,
        observers=observers,
        files=tuple(
            (path.name, digest, len(frame)) for path, digest, frame in zip(paths, digests, frames, strict=True)
        ),
        digest=_joined(digests),
        kinds=kinds,
        notes=(*notes, *same, *left_out, *otherwise),
    )


def _of_pictures(frames: Sequence[pd.DataFrame], names: Collection[str]) -> tuple[list[pd.DataFrame], list[str]]:
    """Trials about these pictures, and a note on the others."""
    kept = [
        frame[[_is_among(image, names) for image in frame["imagename"].astype(str)]].reset_index(drop=True)
        for frame in frames
    ]
    n_kept, n_all = (sum(map(len, some)) for some in (kept, frames))
    if not n_kept:
        raise TableRefused("No trial is about any of the pictures: each file needs the name of a trial's `imagename`.")
    if n_kept == n_all:
        return kept, []
    return kept, [f"{n_all - n_kept:,} of {n_all:,} trials are about pictures that are not there, and are left out."]


def _is_among(image: str, names: Collection[str]) -> bool:
    return composed(original_of(image)) in names or composed(picture_name(image)) in names


_FILLED = frozenset(TRIALS.names[: TRIALS.names.index("simulated") + 1])


def _read(path: Path, times_in: Unit, space: LabelSpace, *, none_offered: bool) -> pd.DataFrame:
    """One file with exactly the columns that are used, as text, rows checked."""
    import pandas as pd

    table = read_table(path)
    missing = [name for name in REQUIRED if name not in table.columns]
    if missing:
        raise TableRefused(
            f"{path.name}: column {missing[0]!r} is missing. Add it; "
            f"the file has: {', '.join(map(str, table.columns))}."
        )
    if table.empty:
        raise TableRefused(f"{path.name} has a header and no trials. Leave it out, or fetch it again.")
    text = {name: table[name].astype("string").str.strip() for name in REQUIRED}
    frame = pd.DataFrame(text)
    lists = _lists(path, table)
    offers = frame["object_response"].str.lower() == NONE_OF_THESE
    offers &= none_offered | (lists[OPTIONS].str.split().map(lambda ids: NONE_OF_THESE in ids))
    nothing = frame["object_response"].fillna("").map(is_nothing) & ~offers.fillna(False)
    remedy = f"says nothing. Write `{NO_ANSWER}` where nobody answered in time: such a trial counts as wrong"
    _refuse_rows(path, "object_response", frame["object_response"], nothing, remedy)
    for name in REQUIRED:
        _refuse_rows(path, name, frame[name], frame[name].isna() | (frame[name] == ""), "the cell is empty. Fill it in")
    for name, allowed, remedy in (
        ("category", space.ids, "Correct it, or leave these trials out"),
        ("object_response", (*space.responses, NONE_OF_THESE), "Correct it"),
    ):
        frame[name] = frame[name].str.lower()
        said = f"is not one of {', '.join(allowed)}. {remedy}"
        _refuse_rows(path, name, frame[name], ~frame[name].isin(allowed), said)
    trial = pd.to_numeric(frame["trial"], errors="coerce")
    _refuse_rows(
        path, "trial", frame["trial"], ~((trial >= 0) & (trial % 1 == 0)), "is not a whole number from 0. Correct it"
    )
    times = _numbers(path, table, "rt", (0, math.inf), "is not a time above 0. Correct it, or leave the cell empty")
    frame["rt_ms"] = (times * 1000 / PER_SECOND[times_in]).astype("string")
    change = _numbers(path, table, "visual_change", (-math.ulp(0), 1), "is not a number from 0 to 1. Correct it")
    frame["visual_change"] = change.astype("string")
    if ORIGINAL in table.columns:
        frame[ORIGINAL] = table[ORIGINAL].astype("string").str.strip()
    return frame if not (lists != "").to_numpy().any() else _with_lists(path, frame, lists, space)


#: Names of the lists in these files, and in `TRIALS`, where `accepted` says whether the session counts.
_LISTS = {"options": OPTIONS, "accepted": ACCEPTED, "competing": COMPETING}


def _lists(path: Path, table: pd.DataFrame) -> pd.DataFrame:
    """The columns of labels, one blank between ids; empty where there are none."""
    import pandas as pd

    found = {}
    for name, column in _LISTS.items():
        cells = table[name].astype("string").fillna("") if name in table.columns else pd.Series([""] * len(table))
        found[column] = cells.str.lower().str.split().str.join(" ").reset_index(drop=True)
    return pd.DataFrame(found)


def _with_lists(path: Path, frame: pd.DataFrame, lists: pd.DataFrame, space: LabelSpace) -> pd.DataFrame:
    """With the lists, after a look at every trial."""
    printed = {"response": "object_response", **{column: name for name, column in _LISTS.items()}}
    cells = lists.assign(category=frame["category"].to_numpy(), response=frame["object_response"].to_numpy())
    for row, one in enumerate(cells.to_dict("records")):
        fault = fault_of({str(name): str(cell) for name, cell in one.items()}, space)
        if fault is not None:
            column, said = fault
            raise TableRefused(f"{path.name}, row {row + 1}, column {printed.get(column, column)!r}: {said}")
    return frame.assign(**{str(name): lists[name].to_numpy() for name in lists})


def _is_right(raw: pd.DataFrame) -> pd.Series[bool]:
    """Whether the answer is among the accepted labels, or the category where no file names any."""
    import pandas as pd

    right = raw["object_response"] == raw["category"]
    if ACCEPTED not in raw or not raw[ACCEPTED].fillna("").ne("").any():
        return right
    cells = zip(raw["object_response"], raw[ACCEPTED].fillna(""), strict=True)
    return pd.Series([response in ids_in(accepted) for response, accepted in cells], index=raw.index)


def _numbers(path: Path, table: pd.DataFrame, name: str, within: tuple[float, float], remedy: str) -> pd.Series[Any]:
    """An optional column of finite numbers above one bound and up to another; cells that say nothing are empty."""
    import pandas as pd

    if name not in table.columns:
        return pd.Series([float("nan")] * len(table), dtype="float64")
    text = table[name].astype("string").str.strip()
    empty = text.fillna("").map(lambda cell: is_nothing(cell) or cell.lower() == NO_ANSWER)
    numbers: pd.Series[Any] = pd.to_numeric(text.mask(empty), errors="coerce").astype("float64")
    fits = numbers.gt(within[0]) & numbers.le(within[1]) & numbers.lt(math.inf)
    _refuse_rows(path, name, text, ~fits & ~empty, remedy)
    return numbers


def _refuse_rows(path: Path, name: str, cells: pd.Series[Any], wrong: pd.Series[Any], remedy: str) -> None:
    wrong = wrong.fillna(True).astype(bool)
    if not wrong.any():
        return
    row, count = int(wrong.to_numpy().argmax()), int(wrong.sum())
    cell = cells.iloc[row]
    said = f"{cell!r} {remedy}" if isinstance(cell, str) and cell else remedy
    more = f" ({count - 1} more such rows)" if count > 1 else ""
    raise TableRefused(f"{path.name}, row {row + 1}, column {name!r}: {said}{more}.")


def _refuse_doubles(paths: Sequence[Path], frames: Sequence[pd.DataFrame]) -> None:
    """The same (subject, session, trial) twice, in one file or in two."""
    import pandas as pd

    places = pd.concat(
        [
            frame[["subj", "session"]].assign(
                trial=pd.to_numeric(frame["trial"]), file=number, row=range(1, len(frame) + 1)
            )
            for number, frame in enumerate(frames)
        ],
        ignore_index=True,
    )
    doubled = places.duplicated(["subj", "session", "trial"])
    if not doubled.any():
        return
    second = places[doubled].iloc[0]
    same = (places[["subj", "session", "trial"]] == second[["subj", "session", "trial"]]).all(axis=1)
    first = places[same].iloc[0]
    raise TableRefused(
        f"{paths[int(second['file'])].name}, row {second['row']}: trial {int(second['trial'])} of session "
        f"{second['session']} of {second['subj']} stands already in {paths[int(first['file'])].name}, "
        f"row {first['row']}. Remove one of them."
    )


def _originals(images: pd.Series[str], written: pd.Series[str], condition: pd.Series[str]) -> pd.Series[Any]:
    """The pictures behind stimuli; where the name carries the condition, in that condition's one spelling."""
    import pandas as pd

    found = [
        f"{right}_{original.removeprefix(f'{wrong}_')}" if original.startswith(f"{wrong}_") else original
        for original, wrong, right in zip(images.map(original_of), written, condition, strict=True)
    ]
    return pd.Series(found, index=images.index, dtype="string")


def original_of(image: str) -> str:
    """The picture behind a stimulus, by which two observers' trials are matched."""
    found = _ORIGINAL.search(image)
    return found[1] if found else _PREFIX.sub("", Path(image).stem)


def picture_name(image: str) -> str:
    """The last part of a trial's picture, by which files of pictures and answers call it: ``dog8-dog3``."""
    return Path(image).stem.rsplit("_", 1)[-1]


def _sha256(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError as error:
        raise TableRefused(f"{path}: there is no such file. Check the name.") from error
    except IsADirectoryError as error:
        raise TableRefused(f"{path} is a folder. Name the files in it: {path}/*.csv") from error
    except OSError as error:
        raise TableRefused(f"{path} cannot be read: {error.strerror}. Check its permissions.") from error


def _joined(digests: Sequence[str]) -> str:
    return hashlib.sha256("\n".join(sorted(digests)).encode()).hexdigest()
