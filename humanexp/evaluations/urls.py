from __future__ import annotations

from django.urls import path

from humanexp.evaluations import views

app_name = "evaluations"
urlpatterns = [path("classifiers/", views.classifiers, name="classifiers")]
