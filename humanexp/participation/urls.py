from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from humanexp.participation.api import previews, views as api
from humanexp.participation.pages import views

app_name = "participation"
urlpatterns: list[URLPattern | URLResolver] = [
    path("run/", views.run, name="run"),
    path("run/result/", views.own_result, name="own-result"),
    path("cards/<str:key>/", views.card, name="card"),
    path("cards/<str:key>/card.png", views.card_as_picture, name="card-picture"),
    path("studies/<slug:slug>/count/<slug:key>/", views.count_again, name="count-again"),
    path("studies/<slug:slug>/sessions/", views.live, name="live"),
    path("studies/<slug:slug>/sessions/withdrawn/", views.withdrawn, name="withdrawn"),
    path("api/v1/run/handoff/", api.HandoffView.as_view(), name="run-handoff"),
    path("api/v1/run/handoff/look/", api.LookView.as_view(), name="run-look"),
    path("api/v1/run/session/", api.SessionView.as_view(), name="run-session"),
    path("api/v1/run/lease/", api.LeaseView.as_view(), name="run-lease"),
    path("api/v1/run/withdraw/", api.WithdrawView.as_view(), name="run-withdraw"),
    path("api/v1/run/status/", api.StatusView.as_view(), name="run-status"),
    path("api/v1/run/responses/", api.ResponsesView.as_view(), name="run-responses"),
    path("api/v1/run/setup/", api.SetUpView.as_view(), name="run-setup"),
    path("api/v1/run/complete/", api.CompleteView.as_view(), name="run-complete"),
    path("api/v1/run/closing/", api.ClosingView.as_view(), name="run-closing"),
    path("api/v1/run/trials/<int:first>-<int:last>/pictures/", api.PicturesView.as_view(), name="run-pictures"),
    path("api/v1/run/trials/<int:position>/stimulus/<int:showing>/", api.StimulusView.as_view(), name="run-stimulus"),
    path("api/v1/run/trials/<int:position>/question/", api.QuestionView.as_view(), name="run-question"),
    path("api/v1/run/trials/<int:position>/mask/", api.MaskView.as_view(), name="run-mask"),
    *previews.urlpatterns,
]
