from __future__ import annotations

from django.urls import URLPattern, URLResolver

app_name = "screening"
urlpatterns: list[URLPattern | URLResolver] = []
