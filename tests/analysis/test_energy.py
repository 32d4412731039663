"""Energy and CO2: the formula by hand, the published example, and the machine's counters where it has them."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from analysis.energy import (
    CPU_W,
    CUDA_W,
    KG_CO2_PER_KWH,
    UNSTATED_SOURCE,
    Assumptions,
    Energy,
    Meter,
    in_words,
    published_example,
    summed,
)
from analysis.errors import InvalidInput


def test_energy_by_hand() -> None:
    """Two hours at 200 W and 50 W of other parts, with a fifth of overhead, are 0.6 kWh; at half a kilogram, 0.3 kg."""
    energy = Energy(seconds=7200, power_w=200, other_w=50, overhead=1.2, kg_co2_per_kwh=0.5)
    assert energy.kwh == pytest.approx(0.6)
    assert energy.kg_co2 == pytest.approx(0.3)
    assert energy.to_dict()["kwh"] == energy.kwh
    assert Assumptions().power_w("cuda:0") > Assumptions().power_w("cpu") > 0


def test_the_published_example_comes_out_to_the_printed_digits() -> None:
    """VCR, appendix E.2: ((200 + 50) x 1.5 + (170 + 160 + 50)) / 1,000 = 0.755 kWh, 18.875 g a function."""
    total = summed(one.to_dict() for one in published_example().values())
    assert total["kwh"] == pytest.approx(((200 + 50) * 1.5 + (170 + 160 + 50)) / 1000, abs=1e-15)
    assert 1000 * total["kg_co2"] == pytest.approx(18.875, abs=1e-12)
    assert total["measured_by"] == [] and "power_w" not in total and total["kg_co2_per_kwh"] == 0.025


@pytest.mark.parametrize(
    "wrong",
    [
        {"seconds": -1.0, "power_w": 1.0},
        {"seconds": 1.0, "power_w": 0.0},
        {"seconds": 1.0, "power_w": 1.0, "overhead": 0.9},
        {"seconds": 1.0, "power_w": 1.0, "other_w": -1.0},
        {"seconds": 1.0, "power_w": float("nan")},
    ],
)
def test_impossible_energy_is_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InvalidInput, match="positive power"):
        Energy(**wrong)


def test_a_sum_is_measured_only_where_all_of_it_is() -> None:
    told = Energy(seconds=10, power_w=100).to_dict()
    measured = {**told, "measured_by": ["intel-rapl:0", "nvml"]}
    assert summed([{}, measured, {**measured, "measured_by": ["nvml"]}])["measured_by"] == ["nvml"]
    assert summed([measured, told])["measured_by"] == []
    assert summed([measured, told])["kwh"] == pytest.approx(2 * told["kwh"])
    assert summed([{}]) == {}
    assert "an estimate" in in_words(told) and "an estimate" not in in_words(measured)


def test_an_intensity_that_is_given_without_its_source_does_not_borrow_the_usual_one() -> None:
    site = Assumptions(kg_co2_per_kwh=0.05, source="grid operator, 2026")
    assert site.constants("cpu", {"kg_co2_per_kwh": None})["source"] == "grid operator, 2026"
    assert site.constants("cpu", {"kg_co2_per_kwh": 0.025})["source"] == UNSTATED_SOURCE
    assert site.constants("cpu", {"kg_co2_per_kwh": 0.025, "source": "paper"})["source"] == "paper"
    assert site.constants("cuda", {"power_w": 330.0, "source": ""}) == {
        "power_w": 330.0, "overhead": 1.0, "kg_co2_per_kwh": 0.05, "other_w": 0.0, "source": "grid operator, 2026",
    }  # fmt: skip


def package(folder: Path, name: str, microjoules: int | str) -> Path:
    made = folder / name
    made.mkdir(parents=True, exist_ok=True)
    (made / "energy_uj").write_text(f"{microjoules}\n")
    (made / "max_energy_range_uj").write_text("1000000000\n")
    return made


@pytest.mark.process
def test_packages_are_summed_a_full_counter_begins_again_and_parts_of_a_package_count_once(tmp_path: Path) -> None:
    first, second = package(tmp_path, "intel-rapl:0", 5_000_000), package(tmp_path, "intel-rapl:1", 999_000_000)
    core = package(tmp_path, "intel-rapl:0:0", 1)
    with Meter("cpu", powercap=tmp_path) as meter:
        (first / "energy_uj").write_text("25000000")  # 20 J
        (second / "energy_uj").write_text("9000000")  # 10 J over the end
        (core / "energy_uj").write_text("900000000")
        time.sleep(0.01)
    half = meter.share(0.5)
    assert meter.counters == ("intel-rapl:0", "intel-rapl:1") == tuple(half["measured_by"])
    assert half["kwh"] == pytest.approx(15 / 3.6e6) and half["kg_co2"] == pytest.approx(15 / 3.6e6 * KG_CO2_PER_KWH)
    assert half["seconds"] == pytest.approx(meter.seconds / 2)


@pytest.mark.parametrize("what", ["no counters", "not readable", "an accelerator without a counter"])
def test_without_counters_it_is_the_estimate_and_says_so(what: str, tmp_path: Path) -> None:
    device = "cuda" if "accelerator" in what else "cpu"
    if what != "no counters":
        package(tmp_path, "intel-rapl:0", "secret" if what == "not readable" else 5)
    with Meter(device, powercap=tmp_path) as meter:
        pass
    found = meter.share(1.0)
    assert found["measured_by"] == [] and found["power_w"] == (CUDA_W if device == "cuda" else CPU_W)
    assert found["kwh"] == pytest.approx(found["power_w"] * meter.seconds / 3.6e6)
