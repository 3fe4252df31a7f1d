"""Signs of life of the background processes."""

from django.db import models


class Heartbeat(models.Model):
    """When a background process was last heard from; /readyz reads it."""

    name = models.CharField(max_length=50, primary_key=True)
    at = models.DateTimeField()
