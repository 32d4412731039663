from __future__ import annotations

from django.conf import settings
from django.urls import path, register_converter
from django.urls.converters import StringConverter

from humanexp.sites.controls import healthz
from humanexp.sites.marketplace import faults
from humanexp.sites.marketplace.api.dispatch import requester_api
from humanexp.sites.marketplace.pages import accounts, work, workers


class EntityConverter(StringConverter):
    """An id as the marketplace gives them; anything else is nowhere."""

    regex = "[A-Z0-9]{1,64}"


register_converter(EntityConverter, "entity")

urlpatterns = [
    path("", work.groups, name="groups"),
    path("groups/<entity:hit_type_id>/", work.group, name="group"),
    path("groups/<entity:hit_type_id>/accept/", work.accept_from_group, name="accept-from-group"),
    path("hits/<entity:hit_id>/", work.hit, name="hit"),
    path("hits/<entity:hit_id>/content/", work.content, name="content"),
    path("uploads/<str:token>", work.upload, name="upload"),
    path("hits/<entity:hit_id>/accept/", work.accept_hit, name="accept-hit"),
    path("work/<entity:assignment_id>/", work.work, name="work"),
    path("work/<entity:assignment_id>/return/", work.return_work, name="return"),
    path("mturk/preview", work.mturk_group, name="mturk-preview"),
    path("projects/<entity:group_id>/tasks", work.mturk_group),
    path("mturk/externalSubmit", work.external_submit, name="external-submit"),
    path("groups/<entity:hit_type_id>/contact/", workers.contact, name="contact"),
    path("qualifications/", workers.qualifications, name="qualifications"),
    path("qualifications/<entity:qualification_type_id>/ask/", workers.ask, name="ask"),
    path("qualifications/tests/<entity:request_id>/", workers.test, name="test"),
    path("earnings/", workers.earnings, name="earnings"),
    path("desk/", accounts.desk, name="desk"),
    path("messages/", workers.messages, name="messages"),
    path("signup/", accounts.signup, name="signup"),
    path("login/", accounts.log_in, name="login"),
    path("logout/", accounts.log_out, name="logout"),
    # boto3 joins an endpoint with "/", with or without one at its end.
    path("requester", requester_api),
    path("requester/", requester_api, name="requester"),
    path("requester//", requester_api),
    path("healthz", healthz, {"service": "marketplace"}, name="healthz"),
]
if settings.MARKETPLACE_TEST_CONTROLS:
    urlpatterns.append(path("_test/<str:name>", faults.control))

handler404 = "humanexp.sites.marketplace.pages.answers.page_not_found"
