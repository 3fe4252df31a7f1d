"""Every setting of the site, in one file; the reasons are in the comments.

What an operator may change comes from the environment, read strictly (see `env.py`): a misspelt value stops the
process with a sentence. Secrets can also be given as `NAME_FILE`, the path of a file that holds them.
Nothing here opens a connection or starts a process: `up.py`, a process manager or the tests do that.
"""

from pathlib import Path
from typing import Any

from csp.constants import NONE, SELF
from django.utils.translation import gettext_lazy as _
from kombu.entity import Exchange, Queue

from bench_site import embedded
from bench_site.env import Env, home_folder, postgres_from_url, secret_kept_in

env = Env()

BASE_DIR = Path(__file__).resolve().parent.parent

# Everything that the site writes is below this folder: secrets, the embedded database, the broker, uploads in transit.
FUSEBOARD_HOME = home_folder(env, BASE_DIR)

DEBUG = env.boolean("DEBUG", False)

# Signs sessions and the digests of tokens. Generated once per home, so that a restart signs nobody out.
SECRET_KEY = env.secret("FUSEBOARD_SECRET_KEY") or secret_kept_in(FUSEBOARD_HOME / "secret_key")
# To replace a key without signing people out: new key above, old ones here.
SECRET_KEY_FALLBACKS = env.words("FUSEBOARD_SECRET_KEY_FALLBACKS")

# The names that the site is reached by, besides loopback, which it binds by default and health checks use.
ALLOWED_HOSTS = [*env.words("ALLOWED_HOSTS"), "localhost", "127.0.0.1", "[::1]"]
# Needed behind a TLS proxy that changes the port or host: https://bench.example.org
CSRF_TRUSTED_ORIGINS = env.words("CSRF_TRUSTED_ORIGINS")

# false: nothing is shown to anonymous visitors (health checks excepted).
FUSEBOARD_PUBLIC = env.boolean("FUSEBOARD_PUBLIC", True)

# One limit, told in the 413 that names it. Bodies stream to disk; the smaller ones are parsed in the request.
MAX_RECEIVED_BYTES = env.integer("FUSEBOARD_MAX_RECEIVED_MIB", 128, least=1, most=4096) * 2**20
MAX_DECOMPRESSED_BYTES = env.integer("FUSEBOARD_MAX_DECOMPRESSED_MIB", 512, least=1, most=16384) * 2**20
PARSE_IN_REQUEST_BYTES = 8 * 2**20
# Where bodies are while they are received. On the home's disk: /tmp is often memory.
FILE_UPLOAD_TEMP_DIR = str(FUSEBOARD_HOME / "tmp")

# ------------------------------------------------------------------------------------------------ applications

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "ninja",  # for its own copy of Swagger: without it the API docs load from a CDN
    "csp",
    "django_htmx",
    "bench_site.runs",  # the only app with tables; the others have commands, tasks and template tags
    "bench_site.ingest",
    "bench_site.aggregate",
    "bench_site.compare",
    "bench_site.present",
    "bench_site.fleet",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",  # before everything that touches the database: files need none
    "csp.middleware.CSPMiddleware",
    # Pages are 90 to 170 kB of very regular HTML. Outside of all that answers, and inside WhiteNoise, which serves its
    # files ready compressed. The CSRF token is masked anew in each answer, so compression does not give it away.
    "django.middleware.gzip.GZipMiddleware",
    "bench_site.ingest.lastword.LastWordMiddleware",  # outside of whatever refuses an upload
    "bench_site.health.DatabaseAwayMiddleware",
    "bench_site.badrequest.NulMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "bench_site.fleet.access.AccessMiddleware",  # one rule for each URL name; needs to know who is signed in
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
]

ROOT_URLCONF = "bench_site.urls"
WSGI_APPLICATION = "bench_site.wsgi.application"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

TEMPLATES: list[dict[str, Any]] = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.template.context_processors.i18n",
                "django.template.context_processors.tz",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# ------------------------------------------------------------------------------------------------ database

# PostgreSQL only, one dialect everywhere. With DATABASE_URL unset: the embedded server of this home.
_database_url = env.url("DATABASE_URL", schemes=("postgres", "postgresql"))
FUSEBOARD_EMBEDDED_DATABASE = not _database_url
_database: dict[str, Any] = postgres_from_url(_database_url) if _database_url else embedded.connection(FUSEBOARD_HOME)
_database["OPTIONS"] = {
    "connect_timeout": "3",
    **_database.get("OPTIONS", {}),
    # psycopg's own default of 30 s hangs every page while the database is away; after 3 s the visitor is told.
    "pool": {
        "min_size": 1,
        "max_size": env.integer("FUSEBOARD_DATABASE_CONNECTIONS", 8, least=1, most=200),
        "timeout": 3,
    },
}
DATABASES: dict[str, dict[str, Any]] = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        **_database,
        # A pool keeps connections itself, so Django must not. Checks find the ones that a database restart cut.
        "CONN_MAX_AGE": 0,
        "CONN_HEALTH_CHECKS": True,
    },
}

# ------------------------------------------------------------------------------------------------ people

AUTH_USER_MODEL = "runs.User"
LOGIN_URL = "/account/signin/"
LOGIN_REDIRECT_URL = "/account/"
LOGOUT_REDIRECT_URL = "/"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]

# ------------------------------------------------------------------------------------------------ browsers

# Set when the site is behind a proxy that ends TLS and sends X-Forwarded-Proto.
FUSEBOARD_HTTPS = env.boolean("FUSEBOARD_HTTPS", False)
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = LANGUAGE_COOKIE_SECURE = FUSEBOARD_HTTPS
SESSION_COOKIE_SAMESITE = CSRF_COOKIE_SAMESITE = LANGUAGE_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_HTTPONLY = True
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
if FUSEBOARD_HTTPS:
    # Only then: a client could send the header itself to a site that no proxy protects.
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    SECURE_SSL_REDIRECT = True
    SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$"]
    SECURE_HSTS_SECONDS = env.integer("FUSEBOARD_HSTS_SECONDS", 31_536_000, most=63_072_000)

# No inline script, no eval, nothing from another host. Plotly inserts an empty style element (the hash is that of the
# empty string) and sets style attributes; its PNG export goes through data: and blob: images.
CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF, "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='"],
        "style-src-attr": ["'unsafe-inline'"],
        "img-src": [SELF, "data:", "blob:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    },
}

# ------------------------------------------------------------------------------------------------ static files

STATIC_URL = "/static/"
STATICFILES_DIRS = [BASE_DIR / "static"] if (BASE_DIR / "static").is_dir() else []
STATIC_ROOT = BASE_DIR / "staticfiles"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
# Source maps are read by nobody but a developer, and compressing them took more than half of set-up's static time.
WHITENOISE_SKIP_COMPRESS_EXTENSIONS = (
    "jpg", "jpeg", "png", "gif", "webp", "zip", "gz", "tgz", "bz2", "tbz", "xz", "br", "woff", "woff2", "map",
)  # fmt: skip

# ------------------------------------------------------------------------------------------------ language and time

LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("zh-hans", _("Simplified Chinese"))]
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
# Stored and computed in UTC; pages show the viewer's zone with its offset.
TIME_ZONE = "UTC"
USE_TZ = True

# ------------------------------------------------------------------------------------------------ background work

# A message is a hint, never the record: what must be done is a row, a sweep finds it, a message only hurries it.
_broker_folder = FUSEBOARD_HOME / "broker"
CELERY_BROKER_URL = env.url("CELERY_BROKER_URL", schemes=("redis", "rediss", "filesystem"), default="filesystem://")
if CELERY_BROKER_URL.startswith("filesystem"):
    # For worker and beat on one machine. Both data folders are the same one: what is sent is what is read.
    CELERY_BROKER_TRANSPORT_OPTIONS: dict[str, Any] = {
        "data_folder_in": str(_broker_folder / "messages"),
        "data_folder_out": str(_broker_folder / "messages"),
        "control_folder": str(_broker_folder / "control"),
        "processed_folder": str(_broker_folder / "processed"),
        "store_processed": False,
        "polling_interval": 0.2,  # a new run reaches its statistics, and Ctrl-C the worker, without a second's wait
    }
else:
    # A request must not hang on a broker that is away: the sweep does the work half a minute later.
    CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_timeout": 3, "socket_connect_timeout": 3, "max_retries": 1}
CELERY_TASK_PUBLISH_RETRY = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_TASK_DEFAULT_QUEUE = "default"
# "imports" takes what can run for minutes, so that statistics never wait behind a large archive.
# Each with its own exchange and key: left out, both queues would get every message.
CELERY_TASK_QUEUES = [Queue(name, Exchange(name), routing_key=name) for name in ("default", "imports")]
CELERY_TASK_CREATE_MISSING_QUEUES = False  # a misspelt queue is an error at the sender, not a queue that nobody reads
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_SOFT_TIME_LIMIT = 600
CELERY_TASK_TIME_LIMIT = 660
CELERY_TIMEZONE = "UTC"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_MAX_TASKS_PER_CHILD = 1000  # numpy and psycopg fragment memory over days
CELERY_WORKER_CONCURRENCY = env.integer("FUSEBOARD_WORKERS", 2, least=1, most=256)
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
# Remote control is unused, and its broadcast files are what a truncated write turns into a crash loop.
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
# The schedule is this dictionary alone; the persistent scheduler would keep a second copy in a file.
CELERY_BEAT_SCHEDULER = "celery.beat:Scheduler"
CELERY_BEAT_MAX_LOOP_INTERVAL = 5
# `expires`: while no worker runs, messages must not pile up to be worked off one by one.
CELERY_BEAT_SCHEDULE: dict[str, dict[str, Any]] = {
    "sweep": {"task": "aggregate.sweep", "schedule": 30.0, "options": {"expires": 30}},
    "uploads": {"task": "ingest.sweep_uploads", "schedule": 30.0, "options": {"queue": "imports", "expires": 30}},
    "heartbeat": {"task": "aggregate.heartbeat", "schedule": 10.0, "options": {"expires": 30}},
}
# /readyz calls the worker silent when its newest heartbeat is older than this.
HEARTBEAT_MAX_AGE_SECONDS = 60

# ------------------------------------------------------------------------------------------------ logs

LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {"format": "{asctime} {levelname} {name}: {message}", "style": "{"},
    },
    "filters": {
        "readyz": {"()": "bench_site.logs.NotReadyIsNoError"},
        "forms": {"()": "bench_site.logs.ExpiredFormIsNoFault"},
        "links": {"()": "bench_site.logs.OneTimeLinksAreSecrets"},
    },
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["readyz", "links"]}},
    "root": {"handlers": ["stderr"], "level": env.text("FUSEBOARD_LOG_LEVEL", "INFO").upper()},
    "loggers": {
        "celery": {"level": "WARNING"},
        # Django's own handlers would print everything twice, and mail to nobody.
        "django": {"handlers": [], "propagate": True, "level": "INFO"},
        "django.server": {"handlers": [], "propagate": True},
        # A wrong address, password or file is told to whoever sent it; a line each would hide what the site does wrong.
        "django.request": {"level": "ERROR"},
        "django.security.csrf": {"filters": ["forms"]},
        "kombu.connection": {"level": "ERROR"},  # the file-system broker has no host name, and is told so each time
        "psycopg.pool": {"level": "ERROR"},  # one warning per retry while the database is away
    },
}
