"""The cards of means over kinds and families."""

from __future__ import annotations

from analysis.claims.curves import NOT_OURS
from analysis.findings.model.comparisons import GroupContrast, GroupIndices, GroupMean
from humanexp.results.charts.group_means import GROUP_MEANS
from tests.analysis.findings.examples import STORED, curve, findings, like


def mean(grouping: str, group: str, difference: float, networks: tuple[str, ...] = ("a",)) -> GroupMean:
    return GroupMean(
        grouping=grouping, group=group, networks=networks, corruptions=("gaussian_blur",), difference=difference,
        interval=(difference - 0.02, difference + 0.02), hmri=0.8, mrsi=0.0,
    )  # fmt: skip


def test_kinds_stand_in_their_order_and_families_from_the_widest_gap() -> None:
    found = findings(
        group_means=(
            mean("kinds", "adversarial", -0.2), mean("kinds", "vit", -0.1, ("b", "c")),
            mean("families", "noise", -0.05), mean("families", "blur", -0.3),
        ),
        group_contrasts=(
            GroupContrast(grouping="kinds", pair=("vit", "adversarial"), difference=0.1, interval=(0.05, 0.15), p=0.01,
                          differ=True, statement="so it is"),
        ),
    )  # fmt: skip
    assert [one.key for one in GROUP_MEANS.choices(found)] == ["means--kinds", "means--families"]
    kinds, families = (GROUP_MEANS.build(found, f"means--{one}") for one in ("kinds", "families"))
    assert [row[0] for row in kinds.tables[0].rows] == ["vision transformer", "adversarially trained"]
    assert [row[0] for row in families.tables[0].rows] == ["blur", "noise"]
    assert kinds.tables[0].rows[0][-3:] == (2, 1, "b, c")
    assert kinds.tables[1].rows == (
        ("vision transformer", "adversarially trained", (0.1, 0.05, 0.15), 0.01, "so it is"),
    )
    assert families.tables[1].rows == ()
    assert kinds.figure is not None and kinds.figure.y.categories == ("vision transformer", "adversarially trained")


def test_consistency_has_a_table_of_indices_and_no_verdict() -> None:
    def indices(group: str, hmri: float) -> GroupIndices:
        return GroupIndices(
            grouping="families", group=group, property="consistency", networks=("a", "b"), corruptions=("frost",),
            human_area=0.8, classifier_area=0.6, hmri=hmri, mrsi=0.01,
        )  # fmt: skip

    means = (mean("families", "noise", -0.05), mean("families", "blur", -0.3))
    found = findings(group_means=means, group_indices=(indices("noise", 0.9), indices("blur", 0.7)))
    table = GROUP_MEANS.build(found, "means--families").table("consistency-families")
    assert table.rows == (("blur", 0.7, 0.01, 0.8, 0.6, 2, 1), ("noise", 0.9, 0.01, 0.8, 0.6, 2, 1))
    assert "no groups are said to differ" in table.notes[0]
    assert not {column.kind for column in table.columns} & {"estimate", "p"}
    paper = {
        "curves": [curve(corruption="gaussian_blur", area=0.81).to_json()],
        "settings": {**STORED.to_json()["settings"], "curve": "paper"},
    }
    published = GROUP_MEANS.build(like(found, **paper), "means--families")
    assert [NOT_OURS["paper"] in one.notes for one in published.tables] == [True, False, True]
    bare = GROUP_MEANS.build(findings(group_means=means), "means--families")
    assert [one.key for one in bare.tables] == ["means-families", "contrasts-families"]


def test_without_means_there_is_no_card() -> None:
    assert GROUP_MEANS.choices(findings()) == []
