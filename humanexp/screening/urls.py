from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from humanexp.screening.pages import views

app_name = "screening"
urlpatterns: list[URLPattern | URLResolver] = [
    path("studies/<slug:slug>/review/", views.review, name="review"),
    path("studies/<slug:slug>/review/judge/", views.judge, name="judge"),
    path("studies/<slug:slug>/review/golds/", views.golds, name="golds"),
    path("studies/<slug:slug>/review/comments/", views.comments, name="comments"),
    path("studies/<slug:slug>/review/<slug:code>/", views.session, name="session"),
    path("studies/<slug:slug>/review/<slug:code>/rules/", views.return_to_rules, name="return-to-rules"),
    path("studies/<slug:slug>/timing/", views.timing, name="timing"),
    path("studies/<slug:slug>/timing/certificate.json", views.timing_certificate, name="timing-certificate"),
]
