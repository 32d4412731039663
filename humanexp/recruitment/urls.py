from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from humanexp.recruitment import api
from humanexp.recruitment.pages.views import campaigns, ledger, monitor, recruit, review, take

app_name = "recruitment"
urlpatterns: list[URLPattern | URLResolver] = [
    path("take/<str:entry>/", take.take, name="take"),
    path("take/<str:entry>/consent/", take.consent, name="consent"),
    path("take/<str:entry>/run/", take.run, name="run"),
    path("take/<str:entry>/inside/", take.inside, name="inside"),
    path("take/<str:entry>/open/", api.Open.as_view(), name="open"),
    path("take/<str:entry>/resume/", api.Claim.as_view(), name="resume"),
    path("take/<str:entry>/personal/", take.personal, name="personal"),
    path("take/<str:entry>/personal/follow/", api.Follow.as_view(), name="follow"),
    path("api/v1/run/resume/", api.Confirm.as_view(), name="run-resume"),
    path("api/v1/run/deletion/", api.Deletion.as_view(), name="run-deletion"),
    path("take/<str:entry>/delete/", take.delete, name="delete"),
    path("take/<str:entry>/handoff/", api.Handoff.as_view(), name="handoff"),
    path("take/<str:entry>/finish/", api.Finish.as_view(), name="finish"),
    path("studies/<slug:slug>/recruit/", recruit.recruit, name="recruit"),
    path("studies/<slug:slug>/recruit/price/", recruit.price, name="price"),
    path("studies/<slug:slug>/recruit/stop/", recruit.stop, name="stop"),
    path("studies/<slug:slug>/recruit/limits/", recruit.limits, name="limits"),
    path("studies/<slug:slug>/recruit/approval/", recruit.approval, name="approval"),
    path("studies/<slug:slug>/recruit/rejections/", recruit.rejections, name="rejections"),
    path("studies/<slug:slug>/recruit/<int:pk>/extend/", campaigns.extend, name="extend"),
    path("studies/<slug:slug>/recruit/<int:pk>/change/", campaigns.change, name="change"),
    path("studies/<slug:slug>/recruit/notify/", campaigns.notify, name="notify"),
    path("studies/<slug:slug>/recruit/exclusions/", recruit.exclusions, name="exclusions"),
    path("studies/<slug:slug>/recruit/exclusions/<int:pk>/", recruit.exclusion, name="exclusion"),
    path("studies/<slug:slug>/monitor/", monitor.monitor, name="monitor"),
    path("studies/<slug:slug>/monitor/answers/", monitor.answers, name="answers"),
    path("studies/<slug:slug>/monitor/codes/", monitor.codes, name="codes"),
    path("studies/<slug:slug>/monitor/resolve/", monitor.resolve, name="resolve"),
    path("studies/<slug:slug>/monitor/compensate/<int:pk>/", monitor.compensate, name="compensate"),
    path("studies/<slug:slug>/monitor/ledger/", ledger.ledger, name="ledger"),
    path("studies/<slug:slug>/monitor/ledger/ledger.csv", ledger.ledger_csv, name="ledger-csv"),
    path("studies/<slug:slug>/monitor/ledger/differences/<int:pk>/", ledger.difference, name="difference"),
    path("studies/<slug:slug>/monitor/top-up/", ledger.top_up, name="top-up"),
    path("studies/<slug:slug>/monitor/settle/", monitor.settle, name="settle"),
    path("studies/<slug:slug>/monitor/sync/", monitor.sync_now, name="sync"),
    path("studies/<slug:slug>/monitor/payments/<int:pk>/again/", monitor.try_again, name="try-again"),
    path("studies/<slug:slug>/review/<slug:code>/decide/", review.decide, name="decide"),
    path("studies/<slug:slug>/assignments/<int:pk>/", review.assignment, name="assignment"),
    path("studies/<slug:slug>/assignments/<int:pk>/let-in/", review.let_in, name="let-in"),
    path("studies/<slug:slug>/agreed/<slug:digest>/", review.agreed, name="agreed"),
    path("studies/<slug:slug>/let-in/", review.find_person, name="find-person"),
]
