"""The Celery application. Import it wherever tasks are sent: `urls.py` and `manage.py` do."""

import os
import warnings
from typing import Any

from celery import Celery
from celery.contrib.django.task import DjangoTask
from celery.signals import worker_ready
from django.db import transaction

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bench_site.settings")


class HintTask(DjangoTask):
    """A task whose message only hurries what a sweep would find anyway.

    `delay_on_commit` is robust: a broker that is away (or a full disk) is logged and forgotten, because the request
    behind it has committed and must be answered as such. (Lambdas, because Django logs the function's qualified name,
    which a partial does not have.)
    """

    abstract = True

    def delay_on_commit(self, *args: Any, **kwargs: Any) -> None:
        transaction.on_commit(lambda: self.delay(*args, **kwargs), robust=True)

    def apply_async_on_commit(self, *args: Any, **kwargs: Any) -> None:
        transaction.on_commit(lambda: self.apply_async(*args, **kwargs), robust=True)


# As root in a container this is how it is; only JSON is accepted, so a message cannot carry code.
warnings.filterwarnings("ignore", message="You're running the worker with superuser privileges")

app = Celery("fuseboard", task_cls=HintTask)
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@worker_ready.connect
def first_signs(**kwargs: Any) -> None:
    """A worker that starts says so at once and catches up, instead of waiting for beat's first round."""
    for task in ("aggregate.heartbeat", "aggregate.sweep"):
        app.send_task(task)
