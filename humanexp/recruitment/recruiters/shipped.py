"""The recruiters that come with this package; imported once the apps are ready."""

from __future__ import annotations

from humanexp.recruitment.recruiters import link, prolific, requester_api, volunteer
from humanexp.recruitment.recruiters.registry import register

for kind in (
    link.Link(),
    volunteer.Volunteer(),
    requester_api.Marketplace(),
    prolific.Prolific(),
    prolific.Panel(),
    requester_api.Sandbox(),
    requester_api.Production(),
):
    register(kind)
