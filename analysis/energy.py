"""What a computation took in energy, by the machine's own counters or an estimate, and what that emitted.

The one place for powers, carbon intensity and the formula: generation, prediction and retraining all use it.
"""

from __future__ import annotations

import importlib
import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from analysis.errors import InvalidInput

#: Thermal design power of one accelerator of the kind that such experiments run on, in watts.
CUDA_W = 250.0
#: The same of a server's processor.
CPU_W = 100.0
#: Mean of the OECD's electricity in 2014, as the estimator of Lacoste et al. (2019) uses it.
KG_CO2_PER_KWH = 0.432
USUAL_SOURCE = "mean of the OECD's electricity in 2014 (Lacoste et al. 2019)"
UNSTATED_SOURCE = "not stated"
#: In a kilogram.
GRAMS = 1000
#: In words, for pages and files.
FORMULA = "kg CO2 = kW x hours x kg CO2 per kWh (VCR, appendix E.2)"


@dataclass(frozen=True, slots=True)
class Energy:
    """Energy of a computation.

    Attributes
    ----------
    seconds : float
        Time that the device computed.
    power_w : float
        Power of the device, in watts.
    overhead : float
        Power of the whole site in units of the device's (power usage effectiveness), at least 1.
    kg_co2_per_kwh : float
        Carbon intensity of the electricity, in kilograms of CO2 equivalent a kilowatt-hour.
    other_w : float
        Power of whatever else the machine consists of, in watts.
    source : str
        Where the carbon intensity is from.

    Raises
    ------
    InvalidInput
        If one of them is negative or no number, the power is 0, or the overhead is below 1.

    Notes
    -----
    ``kWh = (power_w + other_w) / 1000 * seconds / 3600 * overhead`` and ``kg CO2 = kWh * kg_co2_per_kwh``: VCR,
    appendix E.2, and the estimate of Lacoste et al. (2019, "Quantifying the carbon emissions of machine learning"),
    from hours of computation and the device's power. An upper bound where the device is not busy all the time.
    """

    seconds: float
    power_w: float
    overhead: float = 1.0
    kg_co2_per_kwh: float = KG_CO2_PER_KWH
    other_w: float = 0.0
    source: str = USUAL_SOURCE

    def __post_init__(self) -> None:
        numbers = (self.seconds, self.power_w, self.overhead, self.kg_co2_per_kwh, self.other_w)
        is_possible = all(math.isfinite(one) and one >= 0 for one in numbers) and self.power_w and self.overhead >= 1
        if not is_possible:
            raise InvalidInput(
                f"Energy needs a positive power ({self.power_w} W), at least 0 W of other parts ({self.other_w}), an "
                f"overhead of at least 1 ({self.overhead}), and a carbon intensity of at least 0 kg per kWh "
                f"({self.kg_co2_per_kwh})."
            )

    @property
    def kwh(self) -> float:
        """Kilowatt-hours."""
        return (self.power_w + self.other_w) / 1000 * self.seconds / 3600 * self.overhead

    @property
    def kg_co2(self) -> float:
        """Kilograms of CO2 equivalent."""
        return self.kwh * self.kg_co2_per_kwh

    def to_dict(self) -> dict[str, Any]:
        """Plain values: the constants beside what follows from them."""
        given = {name: getattr(self, name) for name in self.__slots__}
        return {**given, "kwh": self.kwh, "kg_co2": self.kg_co2}


def source_of(kg_co2_per_kwh: float) -> str:
    """Where a carbon intensity is from, as far as that is known without being told."""
    return USUAL_SOURCE if kg_co2_per_kwh == KG_CO2_PER_KWH else UNSTATED_SOURCE


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumptions:
    """What estimates assume of a site.

    Attributes
    ----------
    cpu_w, cuda_w : float
        Power of its processors and of its accelerator while they compute, in watts.
    other_w, overhead, kg_co2_per_kwh, source
        As of `Energy`.
    """

    cpu_w: float = CPU_W
    cuda_w: float = CUDA_W
    other_w: float = 0.0
    overhead: float = 1.0
    kg_co2_per_kwh: float = KG_CO2_PER_KWH
    source: str = USUAL_SOURCE

    def power_w(self, device: str) -> float:
        """Power that is assumed of a device, in watts."""
        return self.cuda_w if device.startswith("cuda") else self.cpu_w

    def constants(self, device: str, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Everything of an `Energy` but the time.

        Parameters
        ----------
        device : str
        given : mapping, optional
            What is known better for this computation, by field of `Energy`; None and "" are not known. A carbon
            intensity that is given without its source has none.
        """
        usual = {
            "power_w": self.power_w(device),
            "overhead": self.overhead,
            "kg_co2_per_kwh": self.kg_co2_per_kwh,
            "other_w": self.other_w,
            "source": self.source,
        }
        known = {name: value for name, value in (given or {}).items() if value not in (None, "")}
        intensity = known.get("kg_co2_per_kwh", self.kg_co2_per_kwh)
        if intensity != self.kg_co2_per_kwh:
            known = {"source": source_of(intensity), **known}
        return {**usual, **known}

    def energy(self, seconds: float, device: str = "cpu", *, power_w: float | None = None) -> Energy:
        """Energy of so many seconds on a device; ``power_w`` where its power was measured."""
        return Energy(seconds=seconds, **self.constants(device, {"power_w": power_w}))


#: What is assumed unless a site says otherwise.
USUAL = Assumptions()


def published_example() -> dict[str, Energy]:
    """The authors' own account of one function, 50,000 pictures and one network: 0.755 kWh, 18.875 g.

    Notes
    -----
    VCR, appendix E.2: 200 W of the processor and 50 W of other parts for 1.5 hours of generation; 160 W of the
    processor, up to 170 W of the GPU and 50 W of other parts for an hour of evaluation; 25 g a kWh.
    """
    site = Assumptions(cpu_w=200, cuda_w=160 + 170, other_w=50, kg_co2_per_kwh=0.025, source="VCR, appendix E.2")
    return {"generation": site.energy(1.5 * 3600), "prediction": site.energy(3600, "cuda")}


def summed(parts: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Several stored energies (`Energy.to_dict`, `Meter.share`) as one.

    Times, kilowatt-hours and kilograms are added. ``measured_by`` keeps the counters that all of them were read from,
    so that one estimate among them makes an estimate of the sum. Constants are kept where all have the same ones.
    """
    found = [part for part in parts if part]
    if not found:
        return {}
    total: dict[str, Any] = {name: math.fsum(part[name] for part in found) for name in ("seconds", "kwh", "kg_co2")}
    for name in ("power_w", "overhead", "kg_co2_per_kwh", "other_w", "source"):
        values = {part[name] for part in found if name in part}
        if len(values) == 1:
            total[name] = values.pop()
    counters = [part.get("measured_by", []) for part in found]
    total["measured_by"] = [one for one in counters[0] if all(one in others for others in counters)]
    return total


def in_words(energy: Mapping[str, Any]) -> str:
    """A stored energy as a sentence's part, with everything that it rests on."""
    powers = f"{energy['power_w']:.4g} W" if "power_w" in energy else "different powers"
    if energy.get("other_w"):
        powers += f" and {energy['other_w']:g} W of other parts"
    intensity = ""
    if "kg_co2_per_kwh" in energy:
        told = [f"{GRAMS * energy['kg_co2_per_kwh']:g} g per kWh", *filter(None, [energy.get("source")])]
        intensity = f" at {', '.join(told)}"
    measured = "by the machine's counters, with whatever else ran on it"
    return (
        f"{energy['seconds']:.0f} s at {powers}: {energy['kwh']:.3g} kWh, {GRAMS * energy['kg_co2']:.3g} g CO₂"
        f"{intensity}; {measured if energy.get('measured_by') else 'an estimate'}"
    )


#: Where Linux tells the energy of processors (RAPL), in microjoules; usually for root alone.
POWERCAP = Path("/sys/class/powercap")


class Meter:
    """Energy of what runs inside the block.

    On a processor it is that of its packages by RAPL, on CUDA that of the device by NVML together with the packages'
    where these can be read. Both count whatever else runs there, too. Without counters it is the estimate of `Energy`,
    from the power that is assumed of the device.

    Parameters
    ----------
    device : str
        "cpu", "cuda" or "cuda:1".
    assumed : Assumptions
    powercap : Path
        Folder of the processor's counters.
    """

    def __init__(self, device: str, assumed: Assumptions = USUAL, *, powercap: Path = POWERCAP) -> None:
        self._device = device
        self._assumed = assumed
        self._packages = sorted(powercap.glob("intel-rapl:[0-9]*")) if powercap.is_dir() else []
        self._packages = [package for package in self._packages if package.name.count(":") == 1]
        self._accelerator = _nvml(device) if device.startswith("cuda") else None
        self.seconds = 0.0
        self._joules: dict[str, float] = {}

    def __enter__(self) -> Meter:
        self._began, self._before = time.perf_counter(), self._read()
        return self

    def __exit__(self, *_error: object) -> None:
        self.seconds = time.perf_counter() - self._began
        after = self._read()
        if not self._before or self._before.keys() != after.keys():
            return
        taken = {name: value - self._before[name] for name, value in after.items()}
        ranges = {package.name: _number(package / "max_energy_range_uj") for package in self._packages}
        # A counter of a package begins again at zero when it is full.
        self._joules = {name: value + (ranges.get(name) or 0) * (value < 0) for name, value in taken.items()}

    @property
    def counters(self) -> tuple[str, ...]:
        """Names of the counters that were read; empty where the energy is an estimate."""
        is_complete = self._device == "cpu" or "nvml" in self._joules
        return tuple(self._joules) if is_complete else ()

    def share(self, part: float) -> dict[str, Any]:
        """Plain values of a part of it, as `Energy.to_dict` gives them, and the counters under ``measured_by``."""
        power = None
        if self.counters and self.seconds > 0:
            power = max(sum(self._joules.values()) / self.seconds, 1e-9)
        energy = self._assumed.energy(self.seconds * part, self._device, power_w=power)
        return {**energy.to_dict(), "measured_by": list(self.counters)}

    def _read(self) -> dict[str, float]:
        """Joules by counter; empty where one of them cannot be read."""
        read: dict[str, float] = {}
        for package in self._packages:
            value = _number(package / "energy_uj")
            if value is None:
                return self._of_accelerator()
            read[package.name] = value
        return {**read, **self._of_accelerator()}

    def _of_accelerator(self) -> dict[str, float]:
        if self._accelerator is None:
            return {}
        library, handle = self._accelerator
        try:
            return {"nvml": library.nvmlDeviceGetTotalEnergyConsumption(handle) / 1000}
        except library.NVMLError:
            return {}


def _number(path: Path) -> float | None:
    """A counter in joules, from a file in microjoules; None where it cannot be read."""
    try:
        return int(path.read_text()) / 1e6
    except (OSError, ValueError):
        return None


def _nvml(device: str) -> tuple[Any, Any] | None:
    """The library of NVIDIA's counters and the device's handle, where both are here."""
    try:
        library = importlib.import_module("pynvml")
    except ImportError:
        return None
    try:
        library.nvmlInit()
        return library, library.nvmlDeviceGetHandleByIndex(int(device.partition(":")[2] or 0))
    except library.NVMLError:
        return None
