from django.apps import AppConfig


class RunsConfig(AppConfig):
    name = "bench_site.runs"
    label = "runs"
