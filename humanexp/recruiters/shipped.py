"""The recruiters that come with this package; imported once the apps are ready."""

from __future__ import annotations

from humanexp.recruiters.link import Link, Volunteer
from humanexp.recruiters.mturk.kinds import Marketplace, Production, Sandbox
from humanexp.recruiters.prolific.kinds import Panel, Prolific
from humanexp.recruiters.registry import register

for kind in (
    Link(),
    Marketplace(),
    Prolific(),
    Panel(),
    Sandbox(),
    Production(),
    Volunteer(),
):
    register(kind)
