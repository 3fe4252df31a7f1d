"""The background tasks: fetch, call the verb, return. A message is a hint; all are safe to run twice."""

from datetime import timedelta
from uuid import UUID

from celery import shared_task
from django.utils import timezone

from bench_site.ingest import uploads


@shared_task(name="ingest.parse_upload")
def parse_upload(upload_id: str) -> None:
    """Read a large file that waits."""
    uploads.parse_upload(UUID(upload_id))


@shared_task(name="ingest.sweep_uploads")
def sweep_uploads() -> None:
    """Read the files whose message was lost or whose worker died."""
    for upload_id in uploads.waiting_uploads(timezone.now() - timedelta(seconds=60)):
        uploads.parse_upload(upload_id)
