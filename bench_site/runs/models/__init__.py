"""Every table of Fuseboard, one file a noun. No other app has tables."""

from bench_site.runs.models.catalogue import Chip, ChipAlias, LanguageModel, Machine, ModelAlias
from bench_site.runs.models.identity import (
    Configuration,
    ConfigurationPool,
    ReplicateGroup,
    Series,
    Workload,
)
from bench_site.runs.models.money import ExchangeRate, Price
from bench_site.runs.models.operations import Heartbeat
from bench_site.runs.models.people import SignInAttempt, Token, User
from bench_site.runs.models.raw import RawChunk, RawFile, Upload
from bench_site.runs.models.run import Point, Revision, Run, Samples
from bench_site.runs.models.statistics import GroupStatistic

__all__ = [
    "Chip",
    "ChipAlias",
    "Configuration",
    "ConfigurationPool",
    "ExchangeRate",
    "GroupStatistic",
    "Heartbeat",
    "LanguageModel",
    "Machine",
    "ModelAlias",
    "Point",
    "Price",
    "RawChunk",
    "RawFile",
    "ReplicateGroup",
    "Revision",
    "Run",
    "Samples",
    "Series",
    "SignInAttempt",
    "Token",
    "Upload",
    "User",
    "Workload",
]
