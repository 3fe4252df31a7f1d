"""The forms of the account pages. They check what was typed; what may be done is decided by the verbs."""

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django import forms
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.utils.translation import gettext_lazy as _

from bench_site.runs.models import Machine
from bench_site.runs.models.words import Role, Scope, choices

EXPIRY_DAYS = {7: _("7 days"), 30: _("30 days"), 90: _("90 days"), 365: _("1 year")}

_SCOPES = {
    Scope.PUSH: _("push: store runs"),
    Scope.AGENT: _("agent: take jobs and report on them"),
    Scope.READ: _("read: see what signed-in people see"),
}


class SignInForm(forms.Form):
    """Name and password."""

    username = forms.CharField(
        label=_("Username"),
        max_length=150,
        widget=forms.TextInput(attrs={"autocomplete": "username", "autofocus": True, "autocapitalize": "none"}),
    )
    password = forms.CharField(
        label=_("Password"),
        max_length=4096,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )


class NewPasswordForm(forms.Form):
    """A password, typed twice."""

    password = forms.CharField(
        label=_("New password"),
        max_length=4096,
        strip=False,
        help_text=_("At least 8 characters; not only digits, not a common password."),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    again = forms.CharField(
        label=_("New password, once more"),
        max_length=4096,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def clean(self) -> dict[str, Any]:
        """The two must agree."""
        data = super().clean() or {}
        if data.get("password") and data.get("again") and data["password"] != data["again"]:
            self.add_error("again", _("The two passwords differ."))
        return data


class ChangePasswordForm(NewPasswordForm):
    """The old password, and a new one typed twice."""

    old = forms.CharField(
        label=_("Old password"),
        max_length=4096,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
    field_order = ["old", "password", "again"]


class SetupForm(NewPasswordForm):
    """The first operator's account."""

    username = forms.CharField(
        label=_("Username"),
        max_length=150,
        validators=[UnicodeUsernameValidator()],
        widget=forms.TextInput(attrs={"autocomplete": "username", "autofocus": True, "autocapitalize": "none"}),
    )
    email = forms.EmailField(
        label=_("Email (optional)"), required=False, widget=forms.EmailInput(attrs={"autocomplete": "email"})
    )
    field_order = ["username", "email", "password", "again"]


class TokenForm(forms.Form):
    """A new token; ``allowed`` are the scopes that its owner may have."""

    name = forms.CharField(
        label=_("Name"),
        max_length=100,
        help_text=_("Where it will be used, so that you know later which one to revoke."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "placeholder": "rack 7"}),
    )
    scopes = forms.MultipleChoiceField(
        label=_("It may"), widget=forms.CheckboxSelectMultiple, initial=[Scope.PUSH.value]
    )
    days = forms.TypedChoiceField(label=_("It expires after"), coerce=int, choices=EXPIRY_DAYS, initial=90)
    measures = forms.BooleanField(
        label=_("What it pushes was measured by its owner"),
        required=False,
        help_text=_("Raw files then count as measured unless they say else."),
    )

    def __init__(self, *args: Any, allowed: Iterable[Scope] = tuple(Scope), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        allowed = list(allowed)
        field = self.fields["scopes"]
        assert isinstance(field, forms.MultipleChoiceField)
        field.choices = [(scope.value, _SCOPES[scope]) for scope in allowed]
        if len(allowed) == 1:
            field.initial = [allowed[0].value]

    def chosen(self) -> dict[str, Any]:
        """What ``issue_token`` takes."""
        data = self.cleaned_data
        return {
            "name": data["name"],
            "scopes": [Scope(word) for word in data["scopes"]],
            "expires_in": timedelta(days=data["days"]),
            "measures": data.get("measures", False),
        }


class MachineTokenForm(TokenForm):
    """A new token of a machine, which is registered with it if it was not; what such a one pushes is measured."""

    measures = None  # type: ignore[assignment]

    machine = forms.ModelChoiceField(label=_("Machine"), queryset=Machine.objects.all(), required=False)
    new_machine = forms.CharField(
        label=_("or a new machine's name"),
        max_length=200,
        required=False,
        help_text=_("As its runs will name it."),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    field_order = ["machine", "new_machine", "name"]

    def clean(self) -> dict[str, Any]:
        """Exactly one machine."""
        data = super().clean() or {}
        if bool(data.get("machine")) == bool(data.get("new_machine")):
            self.add_error("machine", _("Choose a machine or name a new one."))
        return data


class InviteForm(forms.Form):
    """Whom to invite, with which role."""

    username = forms.CharField(
        label=_("Username"),
        max_length=150,
        validators=[UnicodeUsernameValidator()],
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none"}),
    )
    email = forms.EmailField(
        label=_("Email (optional)"), required=False, widget=forms.EmailInput(attrs={"autocomplete": "off"})
    )
    role = forms.ChoiceField(label=_("Role"), choices=choices(Role), initial=Role.UPLOADER.value)


class RoleForm(forms.Form):
    """Another role for somebody."""

    role = forms.ChoiceField(label=_("Role"), choices=choices(Role))


class ActiveForm(forms.Form):
    """Whether somebody may sign in."""

    active = forms.TypedChoiceField(choices=[("1", ""), ("0", "")], coerce=lambda word: word == "1")
