"""Pages for operators: people and their roles, machines and their tokens."""

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.db.models import Count, Max, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from bench_site.fleet import accounts
from bench_site.fleet.forms import ActiveForm, InviteForm, MachineTokenForm, RoleForm
from bench_site.fleet.machines import token_for_machine
from bench_site.fleet.tokens import MayNotIssue
from bench_site.fleet.views import me, token_made
from bench_site.runs.models import Machine, Token, User
from bench_site.runs.models.words import Role, choices


@never_cache
@require_GET
def people(request: HttpRequest) -> HttpResponse:
    """Everybody, with role and last sign-in."""
    return _people(request, InviteForm())


@never_cache
@require_POST
def invite(request: HttpRequest) -> HttpResponse:
    """A new person; the answer shows their one-time link, once."""
    form = InviteForm(request.POST)
    if form.is_valid():
        try:
            given = form.cleaned_data | {"role": Role(form.cleaned_data["role"])}
            person, path = accounts.invite(by=me(request), **given)
            return _link(request, person, path)
        except accounts.NotAllowed as why:
            form.add_error("role", str(why))
        except ValidationError as why:
            form.add_error("username", why.messages)
    return _people(request, form, status=422)


@never_cache
@require_POST
def person_link(request: HttpRequest, pk: int) -> HttpResponse:
    """A new one-time link for somebody who lost theirs or their password."""
    person = get_object_or_404(User, pk=pk)
    try:
        return _link(request, person, accounts.renew_link(by=me(request), user=person))
    except accounts.NotAllowed as why:
        messages.error(request, str(why))
        return redirect("people")


@require_POST
def person_role(request: HttpRequest, pk: int) -> HttpResponse:
    """Give somebody another role."""
    person, form = get_object_or_404(User, pk=pk), RoleForm(request.POST)
    if form.is_valid():
        try:
            person = accounts.set_role(by=me(request), user=person, role=Role(form.cleaned_data["role"]))
            messages.success(
                request, _("%(who)s is now: %(role)s.") % {"who": person, "role": person.get_role_display()}
            )
        except accounts.NotAllowed as why:
            messages.error(request, str(why))
    return redirect("people")


@require_POST
def person_active(request: HttpRequest, pk: int) -> HttpResponse:
    """Let somebody sign in, or no longer."""
    person, form = get_object_or_404(User, pk=pk), ActiveForm(request.POST)
    if form.is_valid():
        try:
            person = accounts.set_active(by=me(request), user=person, active=form.cleaned_data["active"])
            said = _("%(who)s may sign in again.") if person.is_active else _("%(who)s may no longer sign in.")
            messages.success(request, said % {"who": person})
        except accounts.NotAllowed as why:
            messages.error(request, str(why))
    return redirect("people")


@never_cache
@require_GET
def machines(request: HttpRequest) -> HttpResponse:
    """Every machine that a run named or an operator registered, and the tokens of each."""
    return _machines(request, MachineTokenForm())


@never_cache
@require_POST
def machine_token_new(request: HttpRequest) -> HttpResponse:
    """A token for a machine; the answer shows its text, once."""
    form = MachineTokenForm(request.POST)
    if form.is_valid():
        try:
            machine = form.cleaned_data["machine"] or form.cleaned_data["new_machine"]
            token, plain = token_for_machine(by=me(request), machine=machine, **form.chosen())
            return token_made(request, token, plain)
        except (MayNotIssue, accounts.NotAllowed) as why:
            form.add_error(None, str(why))
    return _machines(request, form, status=422)


def _people(request: HttpRequest, form: InviteForm, status: int = 200) -> HttpResponse:
    now = timezone.now()
    valid = Q(tokens__revoked_at=None) & (Q(tokens__expires_at=None) | Q(tokens__expires_at__gt=now))
    everybody = (
        User.objects.exclude(username=accounts.SYSTEM_USER)
        .annotate(valid_tokens=Count("tokens", filter=valid), token_used_at=Max("tokens__last_used_at"))
        .order_by("-is_active", "username")
    )
    context = {"people": everybody, "form": form, "roles": choices(Role), "may_set_roles": me(request).may(Role.ADMIN)}
    return render(request, "account/people.html", context, status=status)


def _machines(request: HttpRequest, form: MachineTokenForm, status: int = 200) -> HttpResponse:
    context = {
        "machines": Machine.objects.annotate(run_count=Count("runs")).order_by("-registered", "name"),
        "tokens": Token.objects.filter(machine__isnull=False).select_related("machine").order_by("-created_at"),
        "form": form,
        "now": timezone.now(),
    }
    return render(request, "account/machines.html", context, status=status)


def _link(request: HttpRequest, person: User, path: str) -> HttpResponse:
    context = {"person": person, "link": request.build_absolute_uri(path)}
    return render(request, "account/link_made.html", context)
