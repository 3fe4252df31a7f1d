"""The one place where text that somebody sent becomes text that Plotly may read."""

# Quotes by number: Plotly knows few entities by name, and would show &quot; as it is written.
_ENTITIES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;"})
MAX_LENGTH = 160


def escape(text: object) -> str:
    """``text`` for any place in a figure: Plotly reads tags such as <b> and <a href> in every text it draws.

    Line ends become spaces (a label has one line; hover lines are joined by our own <br>), control characters go, and
    a text beyond ``MAX_LENGTH`` is cut, so that one name cannot cover the chart.
    """
    line = " ".join(str(text).split())
    if not line.isprintable():
        line = "".join(char for char in line if char.isprintable())
    if len(line) > MAX_LENGTH:
        line = line[: MAX_LENGTH - 1] + "…"
    return line.translate(_ENTITIES)
