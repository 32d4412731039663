"""Energy by the machine's counters where it has them, else the stated estimate."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from analysis.retraining.energy import CPU_W, CUDA_W, KG_CO2_PER_KWH, Meter


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
