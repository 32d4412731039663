"""Where the parts of the wheel lie in the repository; all else is in pyproject.toml.

Templates and static files are at the top level of a checkout, and inside the package once it is installed.
"""

from __future__ import annotations

from setuptools import find_packages, setup

SHIPPED = {"humanexp.static": "static", "humanexp.templates": "templates"}

setup(
    packages=[*find_packages(include=["analysis*", "humanexp*"]), *SHIPPED],
    package_dir=SHIPPED,
    package_data=dict.fromkeys(SHIPPED, ["**"]),
)
