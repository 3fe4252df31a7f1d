"""Signing in: slowed down after failures, and silent about which names have an account."""

from django.contrib.auth import authenticate, login
from django.http import HttpRequest

from bench_site.fleet import throttle
from bench_site.runs.models import User


class MustWait(Exception):
    """Too many failures; ``seconds`` until the next try."""

    def __init__(self, seconds: int) -> None:
        self.seconds = seconds
        super().__init__(f"Wait {seconds} s.")


class WrongPassword(Exception):
    """Name and password do not belong together; nothing more is said."""


def sign_in(request: HttpRequest, *, username: str, password: str) -> User:
    """Start a session for whom name and password belong to; raises MustWait or WrongPassword."""
    user = checked(request, username=username, password=password)
    login(request, user)
    return user


def checked(request: HttpRequest, *, username: str, password: str) -> User:
    """Whom name and password belong to, counted as a try; raises MustWait or WrongPassword."""
    keys = throttle.keys_of(request, username)
    if seconds := throttle.seconds_to_wait(keys):
        raise MustWait(seconds)
    user = authenticate(request, username=username, password=password)
    if not isinstance(user, User):
        throttle.note_failure(keys)
        if seconds := throttle.seconds_to_wait(keys):
            raise MustWait(seconds)
        raise WrongPassword
    throttle.note_success(keys)
    return user
