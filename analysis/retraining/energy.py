"""What training took in energy, by the machine's own counters or an estimate, and what that emitted."""

from __future__ import annotations

import importlib
import time
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

    Notes
    -----
    ``kWh = power_w / 1000 * seconds / 3600 * overhead`` and ``kg CO2 = kWh * kg_co2_per_kwh``: the estimate of Lacoste
    et al. (2019, "Quantifying the carbon emissions of machine learning"), from hours of computation and the device's
    power. An upper bound where the device is not busy all the time.
    """

    seconds: float
    power_w: float
    overhead: float = 1.0
    kg_co2_per_kwh: float = KG_CO2_PER_KWH

    def __post_init__(self) -> None:
        if self.seconds < 0 or not self.power_w > 0 or self.overhead < 1 or self.kg_co2_per_kwh < 0:
            raise InvalidInput(
                f"Energy needs a positive power ({self.power_w} W), an overhead of at least 1 ({self.overhead}), and a "
                f"carbon intensity of at least 0 ({self.kg_co2_per_kwh})."
            )

    @property
    def kwh(self) -> float:
        """Kilowatt-hours."""
        return self.power_w / 1000 * self.seconds / 3600 * self.overhead

    @property
    def kg_co2(self) -> float:
        """Kilograms of CO2 equivalent."""
        return self.kwh * self.kg_co2_per_kwh

    def to_dict(self) -> dict[str, Any]:
        """Plain values: the constants beside what follows from them."""
        given = {name: getattr(self, name) for name in self.__slots__}
        return {**given, "kwh": self.kwh, "kg_co2": self.kg_co2}


def usual_power_w(device: str) -> float:
    """Power that is assumed of a device unless it is told, in watts."""
    return CUDA_W if device.startswith("cuda") else CPU_W


#: Where Linux tells the energy of processors (RAPL), in microjoules; usually for root alone.
POWERCAP = Path("/sys/class/powercap")


class Meter:
    """Energy of what runs inside the block.

    On a processor it is that of its packages by RAPL, on CUDA that of the device by NVML together with the packages'
    where these can be read. Both count whatever else runs there, too. Without counters it is the estimate of `Energy`,
    from the device's usual power.

    Parameters
    ----------
    device : str
        "cpu", "cuda" or "cuda:1".
    powercap : Path
        Folder of the processor's counters.
    """

    def __init__(self, device: str, *, powercap: Path = POWERCAP) -> None:
        self._device = device
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
        power = usual_power_w(self._device)
        if self.counters and self.seconds > 0:
            power = max(sum(self._joules.values()) / self.seconds, 1e-9)
        energy = Energy(seconds=self.seconds * part, power_w=power)
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
