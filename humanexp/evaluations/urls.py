from __future__ import annotations

from django.urls import path

from humanexp.evaluations.pages import views

app_name = "evaluations"
urlpatterns = [
    path("classifiers/", views.classifiers, name="classifiers"),
    path("classifiers/new/", views.new, name="new"),
    path("classifiers/upload/", views.upload, name="upload"),
    path("classifiers/upload/take/", views.take, name="take"),
    path("classifiers/models/new/", views.upload_model, name="upload_model"),
    path("classifiers/<int:pk>/", views.run, name="run"),
    path("classifiers/<int:pk>/delete/", views.delete, name="delete"),
    path("classifiers/retraining/<int:pk>/", views.retraining, name="retraining"),
    path("stimuli/sources/<slug:name>/gold/", views.select_gold, name="select_gold"),
]
