from django.apps import AppConfig
from django.utils.translation import gettext_lazy


class RunsConfig(AppConfig):
    name = "bench_site.runs"
    label = "runs"
    verbose_name = gettext_lazy("Catalogue and prices")  # what people see of it: the admin's section
