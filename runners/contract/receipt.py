"""What the site answers to an upload: the same shapes for REST, command line and upload page."""

from typing import Literal
from uuid import UUID

from pydantic import BaseModel

from runners.contract.problems import Problem
from runners.contract.report import Report


class Finding(BaseModel):
    """One plausibility rule that spoke: ``flag`` marks the point, ``quarantine`` keeps it out of every statistic."""

    rule: str
    verdict: Literal["flag", "quarantine"]
    point: int | None = None
    message: str


class Missing(BaseModel):
    """A fact that neither file nor sender gave, and how to say it (``option`` for push, ``path`` in the report)."""

    path: str
    question: str
    option: str
    required: bool = False


class Receipt(BaseModel):
    """What became of one run.

    ``stored``: written now (201). ``unchanged``: the same content was there already (200). ``amended``: written as a
    new revision (200). ``checked``: a dry run, nothing written (200).
    """

    id: UUID
    outcome: Literal["stored", "unchanged", "amended", "checked"]
    url: str
    revision: int
    points: int
    plausibility: Literal["accept", "flag", "quarantine"]
    findings: list[Finding] = []
    unknown_chips: list[str] = []
    unknown_models: list[str] = []
    notes: list[str] = []


class BatchItem(BaseModel):
    """One item of a batch: a receipt, or the problem with it; ``status`` is what the item alone would have got."""

    index: int
    status: int
    receipt: Receipt | None = None
    problem: Problem | None = None


class BatchAnswer(BaseModel):
    """Answer to ``POST /api/v1/runs:batch``, in the order sent. Each item is stored or refused on its own."""

    items: list[BatchItem]


class UploadedRun(BaseModel):
    """One run found in a raw file: as understood, with the receipt once it is stored."""

    record: int
    receipt: Receipt | None = None
    problem: Problem | None = None
    understood: Report | None = None
    missing: list[Missing] = []
    notes: list[str] = []


class UploadAnswer(BaseModel):
    """Answer to ``POST /api/v1/uploads`` and ``GET /api/v1/uploads/{id}``.

    ``received``: stored, to be parsed by a task (202; ask again at ``url``). ``parsed``: see ``runs``. ``refused``: see
    ``problem``. ``removed`` names the paths of secret fields that were taken out before anything was stored.
    """

    id: UUID
    state: Literal["received", "parsed", "refused", "checked"]
    url: str
    filename: str | None = None
    sha256: str
    bytes: int
    tool: str | None = None
    tool_version: str | None = None
    why: str | None = None
    removed: list[str] = []
    runs: list[UploadedRun] = []
    problem: Problem | None = None
