from django.apps import AppConfig


class FleetConfig(AppConfig):
    name = "bench_site.fleet"
    label = "fleet"
