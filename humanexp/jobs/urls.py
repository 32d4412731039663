from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from humanexp.jobs.pages import views

app_name = "jobs"
urlpatterns: list[URLPattern | URLResolver] = [
    path("jobs/", views.job_list, name="jobs"),
    path("jobs/<int:pk>/", views.job_page, name="job"),
    path("jobs/<int:pk>/cancel/", views.cancel, name="cancel"),
    path("jobs/<int:pk>/resume/", views.resume, name="resume"),
]
