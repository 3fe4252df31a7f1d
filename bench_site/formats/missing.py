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

    An option stands there with a placeholder: a value that we made up would be pasted and stored as a fact. Examples
    are in the question. A guess from the model's name is called one, and is never stored by itself.
    """
    found: list[Missing] = []

    def ask(path: str, question: str, option: str, *, required: bool = False) -> None:
        found.append(Missing(path=path, question=question, option=option, required=required))

    pools = report.system.pools
    if not pools or any(pool.chip is None for pool in pools):
        ask("system.pools[0].chip", "Which chip did it run on (for example h200)?", "--chip CHIP", required=True)
    if not pools or any(pool.chips is None for pool in pools):
        ask("system.pools[0].chips", "How many physical chips, of the whole system?", "--chips N", required=True)
    if report.model.name is None:
        ask("model.name", "Which model was served?", "--model NAME", required=True)
    if evidence is None:
        ask(
            "evidence",
            "Who stands behind the figures: measured (you ran it), published (with --source-url URL), claimed, "
            "simulated or mock?",
            "--evidence KIND",
            required=True,
        )
    if report.model.precision.weights is None:
        guess = _PRECISION_IN_NAME.search(report.model.name or "")
        if guess:
            hint = f"The model's name suggests {guess[1].lower()}, which is a guess: check it."
            question, value = f"Which number format have the weights? {hint}", guess[1].lower()
        else:
            question, value = "Which number format have the weights (for example fp8)?", "FORMAT"
        ask("model.precision.weights", question, f"--precision {value}")
    if report.engine.name is None:
        ask("engine.name", "Which engine served it (for example vllm)?", "--engine ENGINE")
    if report.engine.version is None:
        ask("engine.version", "Which version of the engine?", "--engine-version VERSION")
    if report.strategy.kernel is KernelStrategy.UNKNOWN:
        words = ", ".join(word.value for word in KernelStrategy if word is not KernelStrategy.UNKNOWN)
        ask("strategy.kernel", f"Which kernel strategy: {words}?", "--strategy STRATEGY")
    if report.strategy.speculative is None:
        ask(
            "strategy.speculative",
            "Was speculative decoding on (none, or its method, for example eagle3)?",
            "--speculative METHOD",
        )
    elif report.strategy.speculative.method == "unknown":
        ask(
            "strategy.speculative.method",
            "Which method of speculative decoding (for example mtp)?",
            "--speculative METHOD",
        )
    if report.workload.input_tokens is None:
        ask("workload.input_tokens", "How many input tokens did a request ask for?", "--input-tokens N")
    if report.workload.output_tokens is None:
        ask("workload.output_tokens", "How many output tokens did a request ask for?", "--output-tokens N")
    if report.started_at is None and report.started_at_text and len(report.started_at_text) > 10:
        ask(
            "started_at",
            f"In which time zone is {report.started_at_text} (for example Asia/Shanghai)?",
            "--timezone ZONE",
        )
    if report.system.machine is None:
        ask("system.machine", "On which machine?", "--machine NAME")
    return found
