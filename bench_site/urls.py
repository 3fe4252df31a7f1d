"""The addresses of the site; each part owns its own module of them."""

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.templatetags.static import static
from django.urls import include, path

import bench_site.celery  # noqa: F401  every process that serves requests must know the broker before it sends a task
from bench_site import health
from bench_site.ingest.api import api


def favicon(request: HttpRequest) -> HttpResponse:
    """Browsers ask for it by this name, and a 404 is an error in their console."""
    return redirect(static("img/favicon.svg"))


handler400 = "bench_site.badrequest.bad_request"

urlpatterns = [
    path("favicon.ico", favicon, name="favicon"),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
    path("i18n/", include("django.conf.urls.i18n")),
    path("admin/", admin.site.urls),
    path("account/", include("bench_site.fleet.urls")),
    path("api/v1/", api.urls),
    path("", include("bench_site.present.urls")),
]
