from __future__ import annotations

from django.urls import URLPattern, URLResolver

app_name = "recruitment"
urlpatterns: list[URLPattern | URLResolver] = []
