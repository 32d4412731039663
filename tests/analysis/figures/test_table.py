from __future__ import annotations

import csv
import io
import shutil
import subprocess
from pathlib import Path

import pytest

from analysis.errors import InvalidInput
from analysis.figures.table import Column, Table, latex
from tests.limits import LIMIT

COLUMNS = (Column("model", "Model"), Column("hmri", "HMRI", "estimate"), Column("n", "Answers", "count"))


def table(*rows: tuple) -> Table:
    return Table("indices", "Models & people", COLUMNS, rows, ("95 % intervals.",))


def test_csv_is_unrounded_and_gives_an_estimate_three_columns() -> None:
    text = table(("net_1", (1 / 3, 0.25, 0.4), 12345), ("other", (0.5, None, None), None)).to_csv()
    rows = list(csv.DictReader(io.StringIO(text)))
    assert rows[0] == {"model": "net_1", "hmri": repr(1 / 3), "hmri_lower": "0.25", "hmri_upper": "0.4", "n": "12345"}
    assert rows[1] == {"model": "other", "hmri": "0.5", "hmri_lower": "", "hmri_upper": "", "n": ""}


def test_latex_is_rounded_aligned_and_escaped() -> None:
    text = table(("net_1", (-0.0004, -0.25, 0.4), 12345)).to_latex()
    assert r"\begin{tabular}{lrr}" in text
    assert r"Model & HMRI & Answers \\" in text
    assert r"net\_1 & 0.000 [$-$0.250, 0.400] & 12,345 \\" in text
    assert r"\caption{Models \& people. 95 \% intervals.}" in text and r"\label{tab:indices}" in text


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("ΔR̂ ≠ ±0.03", r"$\Delta$$\hat{R}$ $\ne$ $\pm$0.03"),
        (r"50 % #1 {a}\b", r"50 \% \#1 \{a\}\textbackslash{}b"),
        ("–", "--"),
    ],
)
def test_symbols_of_the_field_are_latex(text: str, wanted: str) -> None:
    assert latex(text) == wanted


def test_absent_numbers_are_dashes_on_paper_and_empty_in_files() -> None:
    assert table(("net", None, None)).texts == [["net", "–", "–"]]


def test_a_row_of_another_length_is_refused() -> None:
    with pytest.raises(InvalidInput, match="row 0 has 2 cells for 3 columns"):
        table(("net", None))


def test_no_probability_is_printed_as_zero() -> None:
    found = Table("p", "p", (Column("p", "p", "p"), Column("n", "n", "number")), ((1e-9, 4), (0.0312, 0.5)))
    assert found.texts == [["< 0.001", "4"], ["0.031", "0.500"]]
    assert "$<$ 0.001" in found.to_latex() and "1e-09,4" in found.to_csv()


def wide_table() -> Table:
    columns = (
        Column("model", "Model"),
        *(Column(f"e{k}", label, "estimate") for k, label in enumerate(("HMRI", "MRSI", "Mean on the measured range"))),
        *(Column(f"n{k}", "Extrapolated share", "number") for k in range(6)),
    )
    rows = [(f"efficientnet_b{k}", *[(0.8123 - k / 100, 0.7004, 0.9001)] * 3, *[0.25 + k] * 6) for k in range(3)]
    return Table("wide", "Wide", columns, tuple(rows))


def test_a_wide_table_is_split_to_fit_a_column_in_real_letters() -> None:
    """Every row of every part, measured in Computer Modern at 8 pt with 3 pt on each side of a column."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import TextPath

    found = wide_table()
    text = found.to_latex()
    parts = text.split(r"\begin{tabular}")[1:]
    assert len(parts) >= 3
    heads = [part.splitlines()[2] for part in parts]
    assert all(head.strip().startswith("Model & ") for head in heads)
    assert sum(head.count("&") for head in heads) == len(found.columns) - 1
    assert r"\shortstack[r]{Extrapolated \\ share}" in text
    letters = FontProperties(family="cmr10", size=8)
    for part in parts:
        row = part.split(r"\midrule")[1].strip().splitlines()[0].removesuffix(r" \\")
        cells = [cell.replace(r"\_", "b").strip() for cell in row.split(" & ")]
        widths = [TextPath((0, 0), cell, prop=letters).get_extents().width for cell in cells]
        assert sum(widths) + 6 * len(cells) <= 252


def test_a_narrow_table_stays_whole_and_a_long_text_is_folded() -> None:
    assert table(("net", (0.5, 0.4, 0.6), 3)).to_latex().count(r"\begin{tabular}") == 1
    words = Table("w", "W", (Column("a", "What"), Column("b", "Why")), (("word " * 30, "short"),))
    assert r"\begin{tabular}{>{\raggedright\arraybackslash}p{110pt}l}" in words.to_latex()


def test_texts_are_folded_sooner_where_the_names_of_rows_leave_no_room() -> None:
    """Two names of 30 letters take 250 pt unfolded: nothing else would fit a column of 252 pt."""
    columns = (Column("a", "Model"), Column("b", "Corruption"), Column("c", "Verdict"), Column("n", "Empty", "number"))
    found = Table("t", "T", columns, (("m" * 8 + " name" * 5, "some corruption of this name", "undecided " * 9, None),))
    text = found.to_latex()
    assert text.count(r"\begin{tabular}") == 1 and "Empty" not in text
    folds = [float(one.split("pt}")[0]) for one in text.split("p{")[1:]]
    assert len(folds) == 3 and sum(folds) + 3 * 6 <= 252


def test_latex_compiles_where_there_is_an_engine(tmp_path: Path) -> None:
    engine = shutil.which("pdflatex")
    if engine is None:
        pytest.skip("no pdflatex on this machine")
    body = wide_table().to_latex() + table(("net_1", (-0.0004, -0.25, 0.4), 12345)).to_latex()
    head = "\\documentclass{article}\\usepackage{array,booktabs}\\textwidth=252pt\\begin{document}"
    (tmp_path / "t.tex").write_text(f"{head}\n{body}\n\\end{{document}}", encoding="utf-8")
    command = [engine, "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    said = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=LIMIT)
    assert said.returncode == 0 and "Overfull" not in said.stdout, said.stdout[-2000:]
