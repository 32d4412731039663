"""What training took in energy, and what that emitted: an estimate from time and power."""

from __future__ import annotations

from dataclasses import dataclass
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
