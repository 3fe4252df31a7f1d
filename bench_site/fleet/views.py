"""The account pages: sign in and out, own tokens, own password, one-time links."""

from django.contrib import messages
from django.contrib.auth import login, logout, update_session_auth_hash
from django.core.exceptions import ValidationError
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from bench_site.fleet import accounts, links, signin
from bench_site.fleet.forms import ChangePasswordForm, NewPasswordForm, SetupForm, SignInForm, TokenForm
from bench_site.fleet.tokens import MayNotIssue, allowed_scopes, issue_token, revocable_by, revoke_token, tokens_of
from bench_site.runs.models import Token, User

get_or_post = require_http_methods(["GET", "HEAD", "POST"])


def wait_words(seconds: int) -> str:
    """How long to wait, as the sign-in form says it."""
    if seconds < 90:
        return ngettext(
            "Too many failed tries. Wait %(n)d second, then try again.",
            "Too many failed tries. Wait %(n)d seconds, then try again.",
            seconds,
        ) % {"n": seconds}
    minutes = -(-seconds // 60)
    return ngettext(
        "Too many failed tries. Wait %(n)d minute, then try again.",
        "Too many failed tries. Wait %(n)d minutes, then try again.",
        minutes,
    ) % {"n": minutes}


@never_cache
@get_or_post
@sensitive_post_parameters("password")
def sign_in(request: HttpRequest) -> HttpResponse:
    """The sign-in form; goes on to ``next`` if that is an address of this site."""
    target = request.POST.get("next") or request.GET.get("next") or ""
    if not url_has_allowed_host_and_scheme(target, {request.get_host()}, request.is_secure()):
        target = ""
    form = SignInForm(request.POST or None)
    status = 200
    if request.method == "POST" and form.is_valid():
        try:
            signin.sign_in(request, **form.cleaned_data)
            return redirect(target or "account")
        except signin.MustWait as why:
            form.add_error(None, wait_words(why.seconds))
            status = 429
        except signin.WrongPassword:
            form.add_error(None, _("This name and password do not belong together."))
    return render(request, "account/signin.html", {"form": form, "next": target}, status=status)


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """End the session."""
    logout(request)
    return redirect("/")


@never_cache
@require_GET
def account(request: HttpRequest) -> HttpResponse:
    """Who one is, and one's own tokens."""
    return _account(request, TokenForm(allowed=allowed_scopes(me(request))))


@never_cache
@require_POST
def token_new(request: HttpRequest) -> HttpResponse:
    """Make a token and show it, once: the answer is no redirect, so that its text is kept nowhere."""
    form = TokenForm(request.POST, allowed=allowed_scopes(me(request)))
    if not form.is_valid():
        return _account(request, form, status=422)
    try:
        token, plain = issue_token(user=me(request), **form.chosen())
    except MayNotIssue as why:
        form.add_error(None, str(why))
        return _account(request, form, status=422)
    return token_made(request, token, plain)


def token_made(request: HttpRequest, token: Token, plain: str) -> HttpResponse:
    """The page that shows a new token's text, with what to type on the runner."""
    site = request.build_absolute_uri("/").rstrip("/")
    return render(request, "account/token_made.html", {"token": token, "plain": plain, "site": site})


@require_POST
def token_revoke(request: HttpRequest, pk: int) -> HttpResponse:
    """End one of one's own tokens (an operator: any machine's)."""
    token = get_object_or_404(revocable_by(me(request)), pk=pk)
    revoke_token(token)
    messages.success(request, _("The token %(token)s was revoked.") % {"token": token})
    return redirect("machines" if token.machine_id else "account")


@never_cache
@get_or_post
@sensitive_post_parameters()
def password(request: HttpRequest) -> HttpResponse:
    """Change one's own password; the old one is asked for, and guessing it is slowed down as at sign-in."""
    form = ChangePasswordForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            user = signin.checked(request, username=me(request).username, password=form.cleaned_data["old"])
            accounts.change_password(user=user, password=form.cleaned_data["password"])
        except signin.MustWait as why:
            form.add_error("old", wait_words(why.seconds))
        except signin.WrongPassword:
            form.add_error("old", _("This is not your password."))
        except ValidationError as why:
            form.add_error("password", why)
        else:
            update_session_auth_hash(request, user)
            messages.success(request, _("Your password was changed; other sessions were signed out."))
            return redirect("account")
    return render(request, "account/password.html", {"form": form})


@never_cache
@get_or_post
@sensitive_post_parameters()
def welcome(request: HttpRequest, code: str) -> HttpResponse:
    """An invited person sets a password."""
    form = NewPasswordForm(request.POST or None)
    try:
        user = links.invited(code)
        if request.method == "POST" and form.is_valid():
            user = accounts.accept_invitation(code=code, password=form.cleaned_data["password"])
            return _enter(request, user)
    except links.DeadLink as why:
        return _dead(request, why)
    except ValidationError as why:
        form.add_error("password", why)
    return render(request, "account/welcome.html", {"form": form, "person": user})


@never_cache
@get_or_post
@sensitive_post_parameters()
def setup(request: HttpRequest, code: str) -> HttpResponse:
    """The first operator makes an account."""
    form = SetupForm(request.POST or None)
    try:
        accounts.check_setup(code)
        if request.method == "POST" and form.is_valid():
            given = {key: form.cleaned_data[key] for key in ("username", "email", "password")}
            return _enter(request, accounts.make_first_operator(code=code, **given))
    except links.DeadLink as why:
        return _dead(request, why)
    except ValidationError as why:
        _add_errors(form, why)
    return render(request, "account/setup.html", {"form": form})


def me(request: HttpRequest) -> User:
    """Who is signed in."""
    # The access rule lets nobody in who is not signed in.
    assert isinstance(request.user, User)
    return request.user


def _account(request: HttpRequest, form: TokenForm, status: int = 200) -> HttpResponse:
    context = {"form": form, "tokens": tokens_of(me(request)), "now": timezone.now()}
    return render(request, "account/account.html", context, status=status)


def _enter(request: HttpRequest, user: User) -> HttpResponse:
    login(request, user, backend="django.contrib.auth.backends.ModelBackend")
    return redirect("account")


def _dead(request: HttpRequest, why: links.DeadLink) -> HttpResponse:
    return render(request, "account/dead_link.html", {"why": str(why)}, status=410)


def _add_errors(form: Form, why: ValidationError) -> None:
    if hasattr(why, "error_dict"):
        for name, errors in why.error_dict.items():
            form.add_error(name if name in form.fields else None, errors)
    else:
        form.add_error("password", why)
