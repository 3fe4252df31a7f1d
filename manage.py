#!/usr/bin/env python
"""Django's command line for the site: `.venv/bin/python manage.py COMMAND`."""

import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "bench_site.settings")
    from django.core.management import execute_from_command_line

    import bench_site.celery  # noqa: F401  commands send tasks too, and must know the broker

    execute_from_command_line(sys.argv)


if __name__ == "__main__":
    main()
