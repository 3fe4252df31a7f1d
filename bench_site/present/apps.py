from django.apps import AppConfig


class PresentConfig(AppConfig):
    name = "bench_site.present"
    label = "present"
