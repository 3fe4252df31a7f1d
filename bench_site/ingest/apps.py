from django.apps import AppConfig


class IngestConfig(AppConfig):
    name = "bench_site.ingest"
    label = "ingest"
