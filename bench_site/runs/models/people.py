"""Accounts, tokens and failed sign-ins."""

from django.contrib.auth.models import AbstractUser
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from bench_site.runs.models.words import Role, Scope, one_of, word_field


class User(AbstractUser):
    """A person. What they may do is their ``role``; Django's is_staff and is_superuser follow it on save."""

    role = word_field(Role, verbose_name=_("role"), default=Role.UPLOADER.value)

    class Meta:
        verbose_name = _("account")
        verbose_name_plural = _("accounts")
        constraints = [one_of(Role, "role", "user_role_word")]

    def save(self, *args: object, **kwargs: object) -> None:
        """Store, with the admin's flags derived from the role, so that the two cannot disagree."""
        self.is_superuser = self.role == Role.ADMIN
        self.is_staff = self.role in (Role.OPERATOR, Role.ADMIN)
        super().save(*args, **kwargs)  # type: ignore[arg-type]

    def may(self, role: Role) -> bool:
        """Whether this person's role includes ``role``."""
        order = list(Role)
        return self.is_active and order.index(Role(self.role)) >= order.index(role)


class Token(models.Model):
    """A bearer token: shown once, kept as a prefix to find it by and an HMAC digest to check it with."""

    prefix = models.CharField(_("prefix"), max_length=12, unique=True)
    digest = models.CharField(max_length=64)
    name = models.CharField(_("name"), max_length=100)
    user = models.ForeignKey(
        User, verbose_name=_("account"), null=True, blank=True, on_delete=models.CASCADE, related_name="tokens"
    )
    machine = models.ForeignKey(
        "runs.Machine",
        verbose_name=_("machine"),
        null=True,
        blank=True,
        on_delete=models.CASCADE,
        related_name="tokens",
    )
    scopes = ArrayField(models.CharField(max_length=10), verbose_name=_("scopes"))
    measures = models.BooleanField(
        _("measures"), default=False, help_text=_("Raw files pushed with it are measured unless they say else.")
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True)
    last_used_at = models.DateTimeField(_("last used"), null=True, blank=True)

    class Meta:
        verbose_name = _("token")
        verbose_name_plural = _("tokens")
        ordering = ["-created_at"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(user__isnull=False) ^ models.Q(machine__isnull=False), name="token_has_one_owner"
            ),
            models.CheckConstraint(
                condition=models.Q(scopes__contained_by=[s.value for s in Scope]), name="token_scope_words"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.prefix} ({self.name})"


class SignInAttempt(models.Model):
    """A failed sign-in, kept to slow the next one down; swept when older than a day."""

    key = models.CharField(max_length=200)
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        # Serves the throttle's count of recent failures of one account or address.
        indexes = [models.Index(fields=["key", "at"], name="signin_key_at")]
