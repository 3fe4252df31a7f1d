"""Signing in: slowed down after failures, and silent about which names have an account."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from bench_site.fleet import throttle
from bench_site.runs.models import SignInAttempt, User

pytestmark = pytest.mark.django_db
PASSWORD = "kernel-fusion-42"


@pytest.fixture
def ann() -> User:
    return User.objects.create_user("ann", password=PASSWORD)


def tried(name: str = "ann", password: str = "wrong", **extra: Any) -> Any:
    return Client().post("/account/signin/", {"username": name, "password": password}, **extra)


def said(answer: Any) -> str:
    return " ".join(answer.context["form"].non_field_errors())


def test_the_right_password_signs_in_and_goes_on(ann: User) -> None:
    client = Client()
    assert client.get("/account/").headers["Location"] == "/account/signin/?next=%2Faccount%2F"
    form = {"username": "ann", "password": PASSWORD}
    assert client.post("/account/signin/", form | {"next": "/runs/?q=a"}).headers["Location"] == "/runs/?q=a"
    assert client.get("/account/").status_code == 200


@pytest.mark.parametrize(
    "target", ["https://evil.example/", "//evil.example/", "javascript:alert(1)", "/\\evil.example"]
)
def test_it_never_leads_to_another_site(ann: User, target: str) -> None:
    answer = Client().post("/account/signin/", {"username": "ann", "password": PASSWORD, "next": target})
    assert answer.headers["Location"] == "/account/"


def test_names_without_account_are_answered_alike(ann: User) -> None:
    User.objects.create_user("closed", password=PASSWORD, is_active=False)
    answers = [said(tried(name, password)) for name, password in (("ann", "x"), ("nobody", "x"), ("closed", PASSWORD))]
    assert answers == ["This name and password do not belong together."] * 3


@pytest.mark.parametrize("name", ["ann", "nobody"])
def test_after_five_failures_one_waits_and_is_told_how_long(ann: User, name: str) -> None:
    answers = [tried(name) for _ in range(5)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 200, 429]
    assert said(answers[-1]) == "Too many failed tries. Wait 5 seconds, then try again."
    right = tried(name, PASSWORD)
    assert right.status_code == 429 and "_auth_user_id" not in right.client.session
    assert SignInAttempt.objects.filter(key=f"account:{name}").count() == 5  # a try while waiting does not count


def test_each_further_failure_doubles_the_wait_up_to_a_quarter_of_an_hour(ann: User) -> None:
    waits = []
    for _ in range(14):
        answer = tried()
        waits.append(throttle.seconds_to_wait(["account:ann"]))
        assert answer.status_code in (200, 429)
        past = timezone.now() - throttle.LONGEST_WAIT - timedelta(seconds=1)
        SignInAttempt.objects.update(at=past)
    assert waits == [0, 0, 0, 0, 5, 10, 20, 40, 80, 160, 320, 640, 900, 900]


def test_the_wait_ends_and_success_clears_the_account(ann: User) -> None:
    for _ in range(5):
        tried()
    SignInAttempt.objects.update(at=timezone.now() - timedelta(seconds=6))
    assert tried(password=PASSWORD).status_code == 302
    assert not SignInAttempt.objects.filter(key="account:ann").exists()
    assert tried().status_code == 200


def test_capitals_do_not_give_more_tries(ann: User) -> None:
    for name in ("ann", "Ann", "ANN", " ann", "aNN"):
        tried(name)
    assert tried("ann").status_code == 429


def test_an_address_that_tries_many_names_waits_too() -> None:
    for number in range(throttle.FREE_FAILURES_OF_ADDRESS):
        tried(f"name{number}", REMOTE_ADDR="192.0.2.7")
    assert tried("another", REMOTE_ADDR="192.0.2.7").status_code == 429
    assert tried("another", REMOTE_ADDR="192.0.2.8").status_code == 200


def test_failures_are_forgotten_after_a_day() -> None:
    for _ in range(5):
        tried()
    SignInAttempt.objects.update(at=timezone.now() - timedelta(hours=25))
    tried()
    assert SignInAttempt.objects.filter(key="account:ann").count() == 1


def test_the_old_password_cannot_be_guessed_from_a_session(ann: User) -> None:
    client = Client()
    client.force_login(ann)
    form = {"old": "wrong", "password": PASSWORD + "!", "again": PASSWORD + "!"}
    answers = [client.post("/account/password/", form).context["form"].errors["old"][0] for _ in range(5)]
    assert answers[0] == "This is not your password." and answers[-1].startswith("Too many failed tries.")
    SignInAttempt.objects.all().delete()
    other = Client()
    other.force_login(ann)
    assert client.post("/account/password/", form | {"old": PASSWORD}).status_code == 302
    assert client.get("/account/").status_code == 200 and other.get("/account/").status_code == 302


def test_signing_out_takes_a_post(ann: User) -> None:
    client = Client()
    client.force_login(ann)
    assert client.get("/account/signout/").status_code == 405
    assert client.post("/account/signout/").status_code == 302
    assert client.get("/account/").status_code == 302
