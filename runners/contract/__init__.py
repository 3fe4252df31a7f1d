"""The report that a runner sends. Imports pydantic and the standard library only."""

from runners.contract.report import Point, Report

__all__ = ["Point", "Report"]
