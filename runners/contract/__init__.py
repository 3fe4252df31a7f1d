"""The report that a runner sends. Imports pydantic and the standard library only."""

from runners.contract.figures import Point
from runners.contract.report import Report

__all__ = ["Point", "Report"]
