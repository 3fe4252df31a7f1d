"""The visual language in one place: colour = vendor, shape = kernel strategy, filled = measured, hollow = not ours."""

import re

from bench_site.compare.shapes import ConfigurationView
from runners.contract.vocabulary import Evidence, KernelStrategy

#: Vendors with a colour of their own (static/css/fuseboard.css); any other, and an unknown one, is grey.
VENDORS = ("nvidia", "google", "amd", "huawei", "cambricon", "hygon", "moorethreads", "kunlunxin", "inspur")
UNKNOWN = "unknown"

#: Plotly's name of the shape of each kernel strategy; templates/marks.html draws the same shapes.
SHAPES = {
    KernelStrategy.OP_BY_OP: "circle",
    KernelStrategy.GRAPH_CAPTURE: "triangle-up",
    KernelStrategy.SUPER_OPERATOR: "diamond",
    KernelStrategy.MEGAKERNEL: "square",
    KernelStrategy.UNKNOWN: "x",
}

#: Evidence that stands on our own runs is drawn filled.
FILLED = frozenset({Evidence.MEASURED})


def vendor_token(vendor: str) -> str:
    """The name of ``vendor``'s colour: "Moore Threads" is "moorethreads", "Inspur 浪潮信息" is "inspur"."""
    plain = re.sub(r"[^a-z]", "", vendor.casefold())
    return next((token for token in VENDORS if plain.startswith(token)), UNKNOWN)


def kernel_word(kernel: str) -> str:
    """``kernel`` where it is a word of the vocabulary, else "unknown"."""
    return kernel if kernel in SHAPES else UNKNOWN


def shape(kernel: str) -> str:
    """Plotly's marker symbol for ``kernel``."""
    return SHAPES[KernelStrategy(kernel_word(kernel))]


def configuration_token(configuration: ConfigurationView) -> str:
    """The colour of a whole configuration; grey when its pools are of several vendors."""
    return vendor_token(configuration.vendor)
