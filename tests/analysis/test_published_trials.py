from __future__ import annotations

import os
from pathlib import Path

import pytest

from analysis.errors import TableRefused
from analysis.published_trials import digest_of, read_published_trials
from tests.labels import of_the_sixteen

HEADER = "subj,session,trial,rt,object_response,category,condition,imagename"
ROWS = [
    "subject-01,1,1,0.5,dog,dog,c100,0000_con_s01_c100_dog_00_n02085620_1.JPEG",
    "subject-01,1,2,NaN,na,cat,c05,0001_con_s01_c05_cat_00_n02123045_2.JPEG",
    "vgg,1,1,NaN,dog,dog,c100,0001_con_dnn_c100_dog_00_n02085620_1.JPEG",
]


def write(folder: Path, *rows: str, name: str = "trials.csv", header: str = HEADER) -> Path:
    path = folder / name
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def test_reads_trials_by_hand(tmp_path: Path) -> None:
    published = read_published_trials([write(tmp_path, *ROWS)], study="contrast")
    trials = published.trials
    assert published.observers == {"subject-01": "human", "vgg": "classifier"}
    assert trials["correct"].tolist() == [True, False, True]
    assert trials["response"].tolist() == ["dog", "na", "dog"]
    assert trials["condition"].tolist() == ["c100", "c05", "c100"]
    assert trials["rt_ms"].iloc[0] == 500.0 and trials["rt_ms"].isna().tolist() == [False, True, True]
    # The same picture in the same condition has one name for both observers.
    assert trials["stimulus"].iloc[0] == trials["stimulus"].iloc[2] == "c100/n02085620_1"
    assert trials["session"].tolist() == ["subject-01/1", "subject-01/1", "vgg/1"]


def test_header_in_any_case_and_extra_columns(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "subject-01,1,1,0.5,dog,dog,bw,a.png,0.3,x",
        header="Subj,Session,Trial,RT,Object_Response,Category,Condition,ImageName,dog_16,extra",
    )
    assert len(read_published_trials([path], study="s").trials) == 1


def test_byte_order_mark_is_no_part_of_the_header(tmp_path: Path) -> None:
    path = tmp_path / "trials.csv"
    path.write_text("\n".join([HEADER, *ROWS]), encoding="utf-8-sig")
    assert len(read_published_trials([path], study="s").trials) == 3


def test_visual_change_is_read_when_it_is_there(tmp_path: Path) -> None:
    path = write(tmp_path, "subject-01,1,1,,dog,dog,x,a.png,0.25", header=HEADER + ",visual_change")
    assert read_published_trials([path], study="s").trials["visual_change"].tolist() == [0.25]


def test_people_of_another_name_are_told_by_a_pattern(tmp_path: Path) -> None:
    path = write(tmp_path, "observer-7,1,1,,dog,dog,x,a.png", "vgg,1,1,,dog,dog,x,a.png")
    assert read_published_trials([path], study="s").observers == {"observer-7": "classifier", "vgg": "classifier"}
    found = read_published_trials([path], study="s", humans="observer-*")
    assert found.observers == {"observer-7": "human", "vgg": "classifier"}


def test_names_of_other_experiments_name_the_original_without_the_running_number(tmp_path: Path) -> None:
    path = write(tmp_path, "subject-01,1,1,,bird,bird,0,0001_cue_s01_0_bird_00_bird3-bird2.png")
    assert read_published_trials([path], study="s").trials["original"].tolist() == ["0_bird_00_bird3-bird2"]


def test_digest_knows_the_files_under_other_names_in_another_order(tmp_path: Path) -> None:
    first, second = write(tmp_path, ROWS[0], name="a.csv"), write(tmp_path, ROWS[1], name="b.csv")
    renamed = write(tmp_path, ROWS[0], name="c.csv")
    published = read_published_trials([first, second], study="s")
    assert published.digest == digest_of([second, renamed]) != digest_of([first])
    assert [(name, rows) for name, _, rows in published.files] == [("a.csv", 1), ("b.csv", 1)]


@pytest.mark.parametrize(
    ("rows", "header", "said"),
    [
        (
            [ROWS[0].replace("dog,dog", "dog,zebra")],
            HEADER,
            r"row 1, column 'category': 'zebra' is not one of airplane",
        ),
        ([ROWS[0], ROWS[0].replace("dog,dog", "wolf,dog")], HEADER, r"row 2, column 'object_response': 'wolf'"),
        (
            [ROWS[0], ROWS[1], ROWS[0]],
            HEADER,
            r"row 3: trial 1 of session 1 of subject-01 stands already in trials.csv, row 1",
        ),
        ([ROWS[0].replace(",1,1,", ",1,one,")], HEADER, r"row 1, column 'trial': 'one' is not a whole number"),
        ([ROWS[0].replace("0.5", "fast")], HEADER, r"row 1, column 'rt': 'fast' is not a time above 0"),
        ([ROWS[0].replace("c100,", ",", 1)], HEADER, r"row 1, column 'condition': the cell is empty"),
        ([ROWS[0]], HEADER.replace("category", "kind"), r"column 'category' is missing. Add it; the file has: subj"),
        (
            [ROWS[0] + ",1.5"],
            HEADER + ",visual_change",
            r"row 1, column 'visual_change': '1.5' is not a number from 0 to 1",
        ),
        ([ROWS[0] + ",2"], HEADER + ",Session", r"columns 2 and 9 are both called 'session'"),
        ([ROWS[0] + ",2"], HEADER, r"row 1: the row has 1 more cell than the header"),
        ([], HEADER, r"a header and no trials"),
    ],
)
def test_bad_files_are_refused_with_file_row_and_remedy(
    tmp_path: Path, rows: list[str], header: str, said: str
) -> None:
    with pytest.raises(TableRefused, match=r"trials\.csv.*" + said):
        read_published_trials([write(tmp_path, *rows, header=header)], study="s")


def test_a_trial_in_two_files_is_refused(tmp_path: Path) -> None:
    first, second = write(tmp_path, ROWS[0], name="a.csv"), write(tmp_path, ROWS[1], ROWS[0], name="b.csv")
    with pytest.raises(TableRefused, match=r"b\.csv, row 2: .* stands already in a\.csv, row 1"):
        read_published_trials([first, second], study="s")


def test_no_such_file_empty_file_folder_and_broken_text_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TableRefused, match="no such file"):
        read_published_trials([tmp_path / "nothing.csv"], study="s")
    with pytest.raises(TableRefused, match="is a folder"):
        read_published_trials([tmp_path], study="s")
    empty = tmp_path / "empty.csv"
    empty.write_bytes(b"")
    with pytest.raises(TableRefused, match=r"empty\.csv is empty"):
        read_published_trials([empty], study="s")
    broken = tmp_path / "broken.csv"
    broken.write_bytes((HEADER + "\n" + ROWS[0] + "\n").encode() + b"subject-01,1,2,0.5,d\xe9g,dog,x,y\n")
    with pytest.raises(TableRefused, match=r"broken\.csv.*not UTF-8"):
        read_published_trials([broken], study="s")
    with pytest.raises(TableRefused, match="No file"):
        read_published_trials([], study="s")


@of_the_sixteen
@pytest.mark.skipif("REFERENCE_DATA" not in os.environ, reason="REFERENCE_DATA names no folder with published trials")
def test_published_noise_experiment_gives_the_published_table() -> None:
    folder = Path(os.environ["REFERENCE_DATA"]) / "published"
    published = read_published_trials(sorted((folder / "noise-experiment").glob("*.csv")), study="noise")
    trials = published.trials
    lines = [line.split() for line in (folder / "noise-experiment_accuracies.txt").read_text().splitlines()]
    names = {"AlexNet": "alexnet", "GoogLeNet": "googlenet", "VGG-16": "vgg"}
    accuracy = 100 * trials.groupby(["condition", "participant"])["correct"].mean()
    people = [name for name, kind in published.observers.items() if kind == "human"]
    cells = 0
    for condition, *values in lines[1:]:
        key = f"{float(condition):.2f}"
        expected = dict(zip([cell.strip('"') for cell in lines[0][1:]], map(float, values), strict=True))
        found = {title: float(accuracy[key, name]) for title, name in names.items()}
        found["human_observers(average)"] = sum(float(accuracy[key, name]) for name in people) / len(people)
        for title, value in expected.items():
            assert abs(found[title] - value) <= 5e-5, (condition, title)
            cells += 1
    assert cells == 32 and len(trials) == 33_280


@of_the_sixteen
def test_lists_of_labels_are_read_and_decide_what_is_right(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "subject-01,1,1,0.5,bear,dog,x,a.png,Dog  Bear cat,bear dog,cat",
        "subject-01,1,2,0.5,None,dog,x,b.png,dog bear none,,",
        "subject-01,1,3,0.5,dog,dog,x,c.png,,oven,",
        header=HEADER + ",options,accepted,competing",
    )
    trials = read_published_trials([path], study="s").trials
    assert trials["options"].fillna("").tolist() == ["dog bear cat", "dog bear none", ""]
    assert trials["accepted_labels"].fillna("").tolist() == ["bear dog", "", "oven"]
    assert trials["competing"].fillna("").tolist() == ["cat", "", ""]
    assert trials["response"].tolist() == ["bear", "none", "dog"]
    assert trials["correct"].tolist() == [True, False, False]
    assert trials["accepted"].all(), "of TRIALS this column says that the session counts"


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("dog,dog,x,a.png,dog,,", "row 1, column 'options': 'dog' leaves nothing to choose"),
        ("dog,dog,x,a.png,dog horse,,", "row 1, column 'options': 'horse' is none of the labels"),
        ("cat,dog,x,a.png,dog bear,,", "row 1, column 'object_response': 'cat' is not among the options"),
        ("cat,dog,x,a.png,cat bear,,", "row 1, column 'category': 'dog' is not among the options"),
        ("cat,dog,x,a.png,,dog,dog", "row 1, column 'competing': 'dog' is right there, too"),
        ("cat,dog,x,a.png,cat bear,dog,", "row 1, column 'accepted': none of dog is among the options"),
        ("none,dog,x,a.png,,dog,", "row 1, column 'object_response': .* says nothing"),
        ("none,dog,x,a.png,dog bear,dog,", "row 1, column 'object_response': .* says nothing"),
    ],
)
def test_lists_that_contradict_the_trial_are_refused(tmp_path: Path, row: str, said: str) -> None:
    path = write(tmp_path, f"subject-01,1,1,0.5,{row}", header=HEADER + ",options,accepted,competing")
    with pytest.raises(TableRefused, match=said):
        read_published_trials([path], study="s")


def test_a_column_of_accepted_labels_without_any_says_nothing(tmp_path: Path) -> None:
    path = write(tmp_path, "subject-01,1,1,0.5,dog,dog,x,a.png,", header=HEADER + ",accepted")
    trials = read_published_trials([path], study="s").trials
    assert trials["correct"].all() and trials["accepted_labels"].isna().all()


def test_none_of_these_is_an_answer_where_it_was_offered(tmp_path: Path) -> None:
    path = write(tmp_path, "subject-01,1,1,0.5,none,dog,x,a.png", "subject-01,1,2,0.5,na,dog,x,b.png")
    with pytest.raises(TableRefused, match="says nothing"):
        read_published_trials([path], study="s")
    trials = read_published_trials([path], study="s", none_offered=True).trials
    assert trials["response"].tolist() == ["none", "na"] and not trials["correct"].any()
