"""One-time links: signed, dated, and dead once they were used. Nothing about them is stored.

An invitation's signature covers the person's password hash and last sign-in, so setting the password ends it; the first
operator's link is dead as soon as an operator exists.
"""

from datetime import timedelta

from django.core.signing import BadSignature, SignatureExpired, TimestampSigner
from django.urls import reverse
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext as _

from bench_site.runs.models import User

INVITATION_LIFE = timedelta(days=7)
SETUP_LIFE = timedelta(hours=24)

_INVITATION = TimestampSigner(salt="fleet.invitation")
_SETUP = TimestampSigner(salt="fleet.setup")


class DeadLink(Exception):
    """The link is wrong, too old or was used; the text says which, without saying whose it was."""


def invitation_path(user: User) -> str:
    """The path under which ``user`` sets a password, once, within INVITATION_LIFE."""
    return reverse("account-welcome", args=[_INVITATION.sign(f"{user.pk}-{_state(user)}")])


def invited(code: str) -> User:
    """The person whom an invitation is for; raises DeadLink."""
    pk, _dash, state = _unsigned(_INVITATION, code, INVITATION_LIFE).partition("-")
    user = User.objects.filter(pk=pk, is_active=True).first() if pk.isdigit() else None
    if user is None or not constant_time_compare(state, _state(user)):
        raise DeadLink(_("This link was used already, or a newer one was made. Ask an operator for a new one."))
    return user


def setup_path() -> str:
    """The path under which the first operator makes an account, once, within SETUP_LIFE."""
    return reverse("account-setup", args=[_SETUP.sign("operator")])


def check_setup(code: str) -> None:
    """Raises DeadLink unless ``code`` came from ``setup_path`` within SETUP_LIFE."""
    _unsigned(_SETUP, code, SETUP_LIFE)


def _unsigned(signer: TimestampSigner, code: str, life: timedelta) -> str:
    try:
        return signer.unsign(code, max_age=life)
    except SignatureExpired:
        raise DeadLink(_("This link is too old. Ask an operator for a new one.")) from None
    except BadSignature:
        raise DeadLink(_("This link is not complete or not from this site. Copy it once more, whole.")) from None


def _state(user: User) -> str:
    last = user.last_login.isoformat() if user.last_login else ""
    return salted_hmac("fleet.invitation.state", f"{user.pk}:{user.password}:{last}", algorithm="sha256").hexdigest()[
        :24
    ]
