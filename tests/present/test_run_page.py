"""What a run's page says about its figures."""

import pytest
from django.test import Client

from tests.compare import factory

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("statistic", "shown"), [("p50", "<td>50.0</td>"), ("mean", "<td>50.0 (mean)</td>")])
def test_interactivity_that_comes_from_the_mean_is_marked(client: Client, statistic: str, shown: str) -> None:
    report = factory.report(tpot=0.02)
    assert report.points[0].metrics.tpot is not None
    report.points[0].metrics.tpot.p50 = None
    setattr(report.points[0].metrics.tpot, statistic, 0.02)
    (run,) = factory.store(report)
    page = client.get(f"/runs/{run}/").content.decode()
    assert shown in page.replace(' class="n"', "")
