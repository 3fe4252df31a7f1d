from django.apps import AppConfig


class AggregateConfig(AppConfig):
    name = "bench_site.aggregate"
    label = "aggregate"
