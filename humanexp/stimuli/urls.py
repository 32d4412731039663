from __future__ import annotations

from django.urls import URLPattern, URLResolver

app_name = "stimuli"
urlpatterns: list[URLPattern | URLResolver] = []
