from __future__ import annotations

from django.urls import URLPattern, URLResolver, path

from humanexp.jobs import pages

app_name = "jobs"
urlpatterns: list[URLPattern | URLResolver] = [
    path("jobs/", pages.job_list, name="jobs"),
    path("jobs/<int:pk>/", pages.job_page, name="job"),
    path("jobs/<int:pk>/cancel/", pages.cancel, name="cancel"),
    path("jobs/<int:pk>/resume/", pages.resume, name="resume"),
]
