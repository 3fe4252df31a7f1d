"""The bytes that were received, kept so that a mended adapter can read them again."""

import uuid

from django.db import models


class RawFile(models.Model):
    """One received body, secrets removed, compressed with zstd. ``sha256`` is of the bytes *as received*.

    Up to ``INLINE_BYTES`` of compressed data lie in ``data``; more in RawChunk rows, in order.
    """

    INLINE_BYTES = 1 << 20

    sha256 = models.CharField(max_length=64, unique=True)
    size = models.BigIntegerField(help_text="Bytes as received, decompressed.")
    data = models.BinaryField(null=True)
    removed = models.JSONField(default=list, help_text="Paths of secret fields that were taken out.")
    received_at = models.DateTimeField(auto_now_add=True)


class RawChunk(models.Model):
    """A piece of a large raw file's compressed bytes."""

    raw_file = models.ForeignKey(RawFile, on_delete=models.CASCADE, related_name="chunks", db_index=False)
    index = models.IntegerField()
    data = models.BinaryField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["raw_file", "index"], name="chunk_once")]


class Upload(models.Model):
    """One raw file sent with one context, and what became of it."""

    class State(models.TextChoices):
        """received (to be parsed by a task) -> parsed | refused."""

        RECEIVED = "received"
        PARSED = "parsed"
        REFUSED = "refused"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4)
    raw_file = models.ForeignKey(RawFile, on_delete=models.PROTECT, related_name="uploads")
    filename = models.CharField(max_length=500, blank=True)
    state = models.CharField(max_length=10, choices=State.choices)
    context = models.JSONField(default=dict)
    amend = models.BooleanField(default=False)
    reason = models.TextField(blank=True)
    answer = models.JSONField(null=True, help_text="The UploadAnswer, once parsed or refused.")
    user = models.ForeignKey("runs.User", null=True, on_delete=models.SET_NULL)
    token = models.ForeignKey("runs.Token", null=True, on_delete=models.SET_NULL)
    created_at = models.DateTimeField(auto_now_add=True)
    attempts = models.IntegerField(default=0)

    class Meta:
        indexes = [
            # Serves the sweep that parses what a lost message left behind.
            models.Index(fields=["created_at"], condition=models.Q(state="received"), name="upload_waiting"),
        ]
