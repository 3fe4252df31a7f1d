"""The addresses under /account/. Every name needs a rule in ``access.RULES``."""

from django.urls import path

from bench_site.fleet import people, views

urlpatterns = [
    path("", views.account, name="account"),
    path("signin/", views.sign_in, name="account-signin"),
    path("signout/", views.sign_out, name="account-signout"),
    path("password/", views.password, name="account-password"),
    path("tokens/new/", views.token_new, name="account-token-new"),
    path("tokens/<int:pk>/revoke/", views.token_revoke, name="account-token-revoke"),
    path("welcome/<str:code>/", views.welcome, name="account-welcome"),
    path("setup/<str:code>/", views.setup, name="account-setup"),
    path("people/", people.people, name="people"),
    path("people/invite/", people.invite, name="people-invite"),
    path("people/<int:pk>/link/", people.person_link, name="person-link"),
    path("people/<int:pk>/role/", people.person_role, name="person-role"),
    path("people/<int:pk>/active/", people.person_active, name="person-active"),
    path("machines/", people.machines, name="machines"),
    path("machines/token/", people.machine_token_new, name="machine-token-new"),
]
