"""Classes of alike corruption functions as they were published."""

from __future__ import annotations

from collections.abc import Mapping

#: VCR (Shen et al.), section 4.4, Figures 8 and S10: functions whose 83 % bands of people's accuracy overlap. The
#: published Blur is `box_blur`; the other five of the 14 functions are like none.
PUBLISHED_CLASSES: Mapping[str, tuple[str, ...]] = {
    "Noise": ("shot_noise", "impulse_noise", "gaussian_noise", "uniform_noise"),
    "Blur": ("box_blur", "median_blur", "gaussian_blur", "glass_blur", "defocus_blur"),
}
