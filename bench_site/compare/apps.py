from django.apps import AppConfig


class CompareConfig(AppConfig):
    name = "bench_site.compare"
    label = "compare"
