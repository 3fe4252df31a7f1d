"""What a report still lacks, and how the sender says it."""

import re

from runners.contract.receipt import Missing
from runners.contract.report import Report
from runners.contract.vocabulary import Evidence, KernelStrategy

_PRECISION_IN_NAME = re.compile(
    r"(?<![a-z0-9])(nvfp4|mxfp4|mxfp8|fp4|fp8|bf16|fp16|int4|int8|w4a16|w8a8|awq|gptq)(?![a-z0-9])", re.IGNORECASE
)


def missing_facts(report: Report, evidence: Evidence | None) -> list[Missing]:
    """The facts that neither file nor sender gave. Without the required ones a run can be compared with nothing.

    A guess from the model's name stands in the question only: a guess is never stored as a fact.
    """
    found: list[Missing] = []

    def ask(path: str, question: str, option: str, *, required: bool = False) -> None:
        found.append(Missing(path=path, question=question, option=option, required=required))

    pools = report.system.pools
    if not pools or any(pool.chip is None for pool in pools):
        ask("system.pools[0].chip", "Which chip did it run on?", "--chip h200", required=True)
    if not pools or any(pool.chips is None for pool in pools):
        ask("system.pools[0].chips", "How many physical chips?", "--chips 8", required=True)
    if report.model.name is None:
        ask("model.name", "Which model was served?", "--model NAME", required=True)
    if evidence is None:
        ask("evidence", "Who stands behind the figures?", "--evidence measured", required=True)
    if report.model.precision.weights is None:
        guess = _PRECISION_IN_NAME.search(report.model.name or "")
        hint = f" The model's name suggests {guess[1].lower()}." if guess else ""
        value = guess[1].lower() if guess else "fp8"
        ask("model.precision.weights", f"Which number format have the weights?{hint}", f"--precision {value}")
    if report.engine.name is None:
        ask("engine.name", "Which engine served it?", "--engine vllm")
    if report.engine.version is None:
        ask("engine.version", "Which version of the engine?", "--engine-version 0.21.0")
    if report.strategy.kernel is KernelStrategy.UNKNOWN:
        ask("strategy.kernel", "Which kernel strategy?", "--strategy graph_capture")
    if report.strategy.speculative is None:
        ask("strategy.speculative", "Was speculative decoding on?", "--speculative none")
    elif report.strategy.speculative.method == "unknown":
        ask("strategy.speculative.method", "Which method of speculative decoding?", "--speculative mtp")
    if report.workload.input_tokens is None:
        ask("workload.input_tokens", "How many input tokens did a request ask for?", "--input-tokens 1024")
    if report.workload.output_tokens is None:
        ask("workload.output_tokens", "How many output tokens did a request ask for?", "--output-tokens 1024")
    if report.started_at is None and report.started_at_text and len(report.started_at_text) > 10:
        ask("started_at", f"In which time zone is {report.started_at_text}?", "--timezone Asia/Shanghai")
    if report.system.machine is None:
        ask("system.machine", "On which machine?", "--machine NAME")
    return found
