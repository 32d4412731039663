from __future__ import annotations

import pytest
from hypothesis import given, settings, strategies as st

from analysis.errors import InvalidInput, OriginalsOverlap
from analysis.retraining.held_out import check_disjoint, split_originals

contents = st.dictionaries(
    st.text("abcdef", min_size=1, max_size=4),
    st.tuples(st.just("cat"), st.integers(0, 12).map(str)),
    min_size=2,
    max_size=20,
).filter(lambda found: len({digest for _, digest in found.values()}) >= 2)


@settings(max_examples=60, deadline=None)
@given(contents, st.floats(0.1, 0.9), st.integers(0, 5))
def test_no_content_is_on_both_sides_and_nothing_is_lost(
    found: dict[str, tuple[str, str]], share: float, seed: int
) -> None:
    split = split_originals(found, share=share, seed=seed)
    assert split.training | split.evaluation == set(found)
    assert split.training
    assert split.evaluation
    assert not {found[name][1] for name in split.training} & {found[name][1] for name in split.evaluation}
    assert split_originals(dict(reversed(found.items())), share=share, seed=seed) == split


def test_every_category_is_divided() -> None:
    found = {f"{category}{n}": (category, f"{category}{n}") for category in ("cat", "dog") for n in range(10)}
    split = split_originals(found, share=0.5, seed=1)
    assert sorted(name[:3] for name in split.training) == ["cat"] * 5 + ["dog"] * 5


@pytest.mark.parametrize("share", [0.0, 1.0])
def test_a_share_of_nothing_is_refused(share: float) -> None:
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        split_originals({"a": ("cat", "1"), "b": ("cat", "2")}, share=share, seed=0)


def test_a_category_of_one_original_cannot_be_divided() -> None:
    with pytest.raises(InvalidInput, match="category cat has one original"):
        split_originals({"a": ("cat", "1"), "b": ("cat", "1")}, share=0.5, seed=0)


def test_the_same_content_on_both_sides_is_refused() -> None:
    check_disjoint(["1", "2"], ["3"])
    with pytest.raises(OriginalsOverlap, match="1 originals of evaluation are originals of training"):
        check_disjoint(["1", "2"], ["2", "3"])
