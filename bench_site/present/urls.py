"""The pages that people read."""

from django.urls import path

from bench_site.present import views

urlpatterns = [
    path("", views.home, name="home"),
    path("compare/", views.compare_view, name="compare"),
    path("compare.csv", views.compare_csv, name="compare-csv"),
    path("runs/", views.runs_view, name="runs"),
    path("runs/<uuid:run_id>/", views.run_view, name="run"),
    path("runs/<uuid:run_id>/raw/", views.run_raw, name="run-raw"),
    path("hardware/", views.hardware_view, name="hardware"),
    path("hardware/<str:slug>/", views.chip_view, name="chip"),
]
