"""Who may ask for what: one rule for each URL name, enforced in one place.

A URL whose name has no rule is refused to everybody, and a test walks all URLs and names it. Rules say who may *come
in*; what depends on the object (one's own tokens, one's own runs) is decided by the verb that is called.
"""

from collections.abc import Callable
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import resolve_url

from bench_site.fleet.tokens import Caller, NotSignedIn, caller_of
from bench_site.health import DatabaseAwayMiddleware
from bench_site.runs.models.words import Role, Scope
from runners.contract.problems import problem


class Rule(StrEnum):
    """Who may come in."""

    OPEN = "anybody, also where the site is closed to the public"
    READ = "anybody; on a closed site whoever is signed in or has a token with the scope read"
    TOKEN = "any valid token"
    SIGNED_IN = "whoever is signed in"
    UPLOADER = "whoever is signed in as uploader or above"
    OPERATOR = "whoever is signed in as operator or above"
    ADMIN = "whoever is signed in as administrator"
    PUSH = "a token with the scope push"
    AGENT = "a token with the scope agent"
    SIGN_IN_PAGE = "nobody: goes on to the sign-in page"


#: URL name -> rule. Names of the API begin with ``api:``, whatever its version.
RULES: dict[str, Rule] = {
    # Health, and settings of the visitor.
    "healthz": Rule.OPEN,
    "readyz": Rule.OPEN,
    "favicon": Rule.OPEN,
    "set_language": Rule.OPEN,
    # What people read.
    "home": Rule.READ,
    "compare": Rule.READ,
    "compare-csv": Rule.READ,
    "runs": Rule.READ,
    "run": Rule.READ,
    "run-raw": Rule.READ,
    "hardware": Rule.READ,
    "chip": Rule.READ,
    # The API: pushing, what became of it, reading it back.
    "api:push-run": Rule.PUSH,
    "api:push-batch": Rule.PUSH,
    "api:upload-file": Rule.PUSH,
    "api:upload": Rule.TOKEN,
    "api:whoami": Rule.TOKEN,
    "api:run": Rule.READ,
    "api:run-raw": Rule.READ,
    "api:schema": Rule.OPEN,
    "api:openapi-json": Rule.OPEN,
    "api:openapi-view": Rule.OPEN,
    "api:api-root": Rule.OPEN,
    "api:no-such-address": Rule.OPEN,
    # Accounts. The links are secrets themselves.
    "account-signin": Rule.OPEN,
    "account-signout": Rule.OPEN,
    "account-welcome": Rule.OPEN,
    "account-setup": Rule.OPEN,
    "account": Rule.SIGNED_IN,
    "account-password": Rule.SIGNED_IN,
    "account-token-new": Rule.SIGNED_IN,
    "account-token-revoke": Rule.SIGNED_IN,
    "people": Rule.OPERATOR,
    "people-invite": Rule.OPERATOR,
    "person-link": Rule.OPERATOR,
    "person-active": Rule.OPERATOR,
    "person-role": Rule.ADMIN,
    "machines": Rule.OPERATOR,
    "machine-token-new": Rule.OPERATOR,
    # Django's admin: catalogue and prices for operators, people and tokens for administrators.
    "admin:login": Rule.SIGN_IN_PAGE,
    "admin:runs_user_*": Rule.ADMIN,
    "admin:runs_token_*": Rule.ADMIN,
    "admin:runs_price_delete": Rule.ADMIN,  # the history of prices is kept; a mistake needs a second pair of eyes
    "admin:runs_exchangerate_delete": Rule.ADMIN,
    "admin:*": Rule.OPERATOR,
}  # fmt: skip

_ROLES = {Rule.UPLOADER: Role.UPLOADER, Rule.OPERATOR: Role.OPERATOR, Rule.ADMIN: Role.ADMIN}
_SCOPES = {Rule.PUSH: Scope.PUSH, Rule.AGENT: Scope.AGENT}


def rule_for(view_name: str) -> Rule | None:
    """The rule of a URL name as the resolver gives it (``namespace:name``); None where there is none."""
    namespace, colon, name = view_name.rpartition(":")
    key = f"{'api' if namespace.startswith('api-') else namespace}{colon}{name}"
    if key in RULES:
        return RULES[key]
    return next((rule for pattern, rule in RULES.items() if "*" in pattern and fnmatchcase(key, pattern)), None)


class AccessMiddleware:
    """Applies the rule of the URL that was resolved. Must come after AuthenticationMiddleware."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> HttpResponse | None:
        """None lets the request through."""
        match = request.resolver_match
        rule = rule_for(match.view_name) if match else None
        if rule is Rule.OPEN or (rule is Rule.READ and settings.FUSEBOARD_PUBLIC):
            return None
        if rule is None:
            name = match.view_name if match else request.path
            return _forbidden(
                request, f"{name} has no rule in bench_site/fleet/access.py, so it is closed to everybody."
            )
        if rule is Rule.SIGN_IN_PAGE:
            return _to_sign_in(request)
        try:
            if rule is Rule.TOKEN or rule in _SCOPES:
                return _check_token(request, _SCOPES.get(rule))
            return _check_person(request, rule)
        except (OperationalError, InterfaceError) as why:
            # Django asks a middleware about the exceptions of views only, not about those of another middleware.
            return DatabaseAwayMiddleware(self.get_response).process_exception(request, why)


def _check_token(request: HttpRequest, scope: Scope | None) -> HttpResponse | None:
    try:
        caller = caller_of(request)
    except NotSignedIn as why:
        return _problem("not-signed-in", str(why), reason=why.reason)
    if scope is None or caller.may(scope):
        return None
    return _problem("forbidden", _why_not(caller, scope), scope=scope.value)


def _why_not(caller: Caller, scope: Scope) -> str:
    if scope in caller.scopes:
        return f"The role of {caller.name()} does not allow it; it needs at least the role uploader."
    return f"This token lacks the scope {scope.value}."


def _check_person(request: HttpRequest, rule: Rule) -> HttpResponse | None:
    if not request.user.is_authenticated:
        if rule is Rule.READ and request.headers.get("Authorization"):
            return _check_token(request, Scope.READ)
        return _not_signed_in(request)
    if rule in _ROLES and not request.user.may(_ROLES[rule]):
        return _forbidden(request, f"This needs the role {_ROLES[rule].value}; yours is {request.user.role}.")
    return None


def for_programs(request: HttpRequest) -> bool:
    """Whether the answer is read by a program, which a redirect to a form would mislead."""
    return request.path.startswith("/api/") or request.path.endswith((".csv", ".json"))


def _not_signed_in(request: HttpRequest) -> HttpResponse:
    if for_programs(request):
        return _problem("not-signed-in", str(NotSignedIn("missing")), reason="missing")
    return _to_sign_in(request)


def _to_sign_in(request: HttpRequest) -> HttpResponse:
    target = request.GET.get("next", "") if request.path.endswith("/login/") else request.get_full_path()
    address = f"{resolve_url(settings.LOGIN_URL)}?{urlencode({'next': target})}"
    if request.headers.get("HX-Request"):
        # htmx would follow a redirect and put the form into a part of the page.
        return HttpResponse(status=401, headers={"HX-Redirect": address})
    return HttpResponseRedirect(address)


def _forbidden(request: HttpRequest, why: str) -> HttpResponse:
    if for_programs(request):
        return _problem("forbidden", why)
    raise PermissionDenied(why)


def _problem(code: str, detail: str, **extra: str) -> HttpResponse:
    body = problem(code, detail, None, **extra)
    answer = HttpResponse(body.model_dump_json(), status=body.status, content_type="application/problem+json")
    if body.status == 401:
        answer.headers["WWW-Authenticate"] = 'Bearer realm="Fuseboard"'
    return answer
