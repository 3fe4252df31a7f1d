"""Who may do what in Django's admin: the person's role says it, as everywhere else."""

from django.contrib import admin
from django.http import HttpRequest

from bench_site.runs.models.words import Role


class ByRole(admin.ModelAdmin):
    """Permissions from the person's role alone; Django's permission tables are not used."""

    needs = Role.OPERATOR

    def _allowed(self, request: HttpRequest) -> bool:
        return request.user.is_authenticated and request.user.may(self.needs)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self._allowed(request)

    def has_view_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return self._allowed(request)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self._allowed(request)

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return self._allowed(request)

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return self._allowed(request)


class InlineByRole(admin.TabularInline):
    """Rows inside another page: whoever may see that page may change them."""

    extra = 1

    def has_view_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return request.user.is_staff

    def has_add_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return request.user.is_staff

    def has_change_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return request.user.is_staff

    def has_delete_permission(self, request: HttpRequest, obj: object = None) -> bool:
        return request.user.is_staff
