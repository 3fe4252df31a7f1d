"""Django's admin for people and tokens: to look, and to revoke. Changes of people are made under /account/people/."""

from typing import Any

from django.contrib import admin, messages
from django.contrib.auth.models import Group
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from bench_site.fleet.tokens import revoke_token
from bench_site.runs.byrole import ByRole
from bench_site.runs.models import Token, User
from bench_site.runs.models.words import Role


class ToLookAt(ByRole):
    """Nothing is added, changed or deleted here."""

    needs = Role.ADMIN

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return False


@admin.register(User)
class UserAdmin(ToLookAt):
    list_display = ["username", "email", "role", "is_active", "last_login", "date_joined"]
    list_filter = ["role", "is_active"]
    search_fields = ["username", "email"]
    fields = ["username", "email", "role", "is_active", "last_login", "date_joined"]


@admin.register(Token)
class TokenAdmin(ToLookAt):
    list_display = [
        "prefix",
        "name",
        "user",
        "machine",
        "scopes",
        "created_at",
        "expires_at",
        "last_used_at",
        "revoked_at",
    ]
    list_filter = ["revoked_at"]
    list_select_related = ["user", "machine"]
    search_fields = ["prefix", "name", "user__username", "machine__name"]
    exclude = ["digest"]
    actions = ["revoke"]

    @admin.action(description=gettext_lazy("Revoke the selected tokens"))
    def revoke(self, request: HttpRequest, queryset: QuerySet[Token]) -> None:
        for token in queryset:
            revoke_token(token)
        messages.success(request, _("The selected tokens were revoked."))


def _own_password_page(request: HttpRequest, extra_context: Any = None) -> HttpResponse:
    """Our page slows down guessing; the admin's own does not."""
    return redirect("account-password")


admin.site.unregister(Group)  # roles are what counts here
admin.site.site_header = admin.site.site_title = "Fuseboard"
admin.site.index_title = gettext_lazy("Catalogue and prices")
admin.site.password_change = _own_password_page  # type: ignore[method-assign, assignment]
