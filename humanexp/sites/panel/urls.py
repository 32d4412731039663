from __future__ import annotations

from django.urls import path

from humanexp.sites.controls import healthz
from humanexp.sites.panel import control, participants
from humanexp.sites.panel.api import accounts, studies, submissions

_V1 = "api/v1"
API = [
    path(f"{_V1}/users/me/", accounts.me, name="me"),
    path(f"{_V1}/workspaces/", accounts.workspaces, name="workspaces"),
    path(f"{_V1}/workspaces/<str:workspace_id>/balance/", accounts.balance, name="balance"),
    path(f"{_V1}/workspaces/<str:workspace_id>/projects/", accounts.projects, name="projects"),
    path(f"{_V1}/projects/<str:project_id>/studies/", studies.studies_of_project, name="studies-of-project"),
    path(f"{_V1}/studies/", studies.studies, name="studies"),
    path(f"{_V1}/studies/<str:study_id>/", studies.study, name="study"),
    path(f"{_V1}/studies/<str:study_id>/transition/", studies.transition, name="study-transition"),
    path(f"{_V1}/studies/<str:study_id>/clone/", studies.clone, name="clone"),
    path(f"{_V1}/studies/<str:study_id>/cost/", studies.cost, name="cost"),
    path(f"{_V1}/studies/<str:study_id>/submissions/", submissions.submissions_of_study, name="submissions-of-study"),
    path(f"{_V1}/studies/<str:study_id>/submissions/counts/", submissions.counts, name="counts"),
    path(f"{_V1}/study-cost-calculator/", accounts.cost_calculator, name="cost-calculator"),
    path(f"{_V1}/reward-recommendations/", accounts.recommendations, name="recommendations"),
    path(f"{_V1}/filters/", accounts.filters, name="filters"),
    path(f"{_V1}/eligibility-count/", accounts.eligibility, name="eligibility"),
    path(f"{_V1}/participant-groups/", accounts.groups, name="groups"),
    path(f"{_V1}/participant-groups/<str:group_id>/participants/", accounts.members, name="members"),
    path(f"{_V1}/submissions/", submissions.submissions, name="submissions"),
    path(f"{_V1}/submissions/bulk-approve/", submissions.bulk_approve, name="bulk-approve"),
    path(f"{_V1}/submissions/bonus-payments/", submissions.bonus_plans, name="bonus-plans"),
    path(f"{_V1}/submissions/<str:submission_id>/", submissions.submission, name="submission"),
    path(f"{_V1}/submissions/<str:submission_id>/transition/", submissions.transition, name="submission-transition"),
    path(f"{_V1}/submissions/<str:submission_id>/request-return/", submissions.request_return, name="request-return"),
    path(f"{_V1}/bulk-bonus-payments/<str:plan_id>/pay/", submissions.bonus_payment, name="bonus-payment"),
    path(f"{_V1}/messages/", accounts.messages, name="messages"),
    path(f"{_V1}/messages/bulk/", accounts.bulk_messages, name="bulk-messages"),
    path(f"{_V1}/messages/unread/", accounts.unread, name="unread"),
    path(f"{_V1}/hooks/event-types/", accounts.event_types, name="event-types"),
    path(f"{_V1}/hooks/secrets/", accounts.secrets, name="secrets"),
    path(f"{_V1}/hooks/subscriptions/", accounts.subscriptions, name="subscriptions"),
    path(f"{_V1}/hooks/subscriptions/<str:subscription_id>/", accounts.subscription, name="subscription"),
    path(f"{_V1}/hooks/subscriptions/<str:subscription_id>/events/", accounts.events, name="events"),
]

urlpatterns = [
    *API,
    path("", participants.front, name="front"),
    path("people/", participants.people, name="people"),
    path("studies/", participants.studies, name="studies-page"),
    path("studies/<str:study_id>/", participants.study, name="study-page"),
    path("studies/<str:study_id>/reserve/", participants.reserve, name="reserve"),
    # Researchers' pages and completion links name this address without a slash.
    path("submissions/complete", participants.complete, name="complete"),
    path("submissions/<str:submission_id>/", participants.submission, name="submission-page"),
    path("submissions/<str:submission_id>/start/", participants.start, name="start"),
    path("submissions/<str:submission_id>/return/", participants.give_back, name="return"),
    path("submissions/<str:submission_id>/finish/", participants.finish, name="finish"),
    path("messages/", participants.messages, name="messages-page"),
    path("earnings/", participants.earnings, name="earnings"),
    path("control/", control.page, name="control"),
    path("control/<str:name>/", control.control, name="control-json"),
    path("healthz", healthz, {"service": "panel"}, name="healthz"),
]
