"""Requests that no view can make sense of are 400, with a page; never an error of the site."""

from collections.abc import Callable

from django.db import DataError
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.template.loader import render_to_string


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's own handler reads the form for its CSRF token, and so fails again where the form is what is wrong."""
    return HttpResponseBadRequest(render_to_string("400.html"))


class NulMiddleware:
    """A NUL character in an address or a form, which PostgreSQL can neither store nor compare with."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, why: Exception) -> HttpResponse | None:
        if isinstance(why, DataError) and "NUL" in str(why):
            return bad_request(request, why)
        return None
