"""One kind of exception a kind of answer: what ``runners.client`` raises."""

from runners.contract.problems import Problem
from runners.contract.receipt import UploadAnswer


class ClientError(Exception):
    """The request did not succeed; the message says why and what to do."""


class Unsent(ClientError):
    """The site did not get to decide: it was out of reach, busy, or something else answered. Try again later."""


class NotSignedIn(ClientError):
    """No token, or one that the site does not know (any more)."""


class Refused(ClientError):
    """The site's last word; ``problem`` says which fields and what is allowed."""

    def __init__(self, found: Problem) -> None:
        super().__init__(f"{found.title}: {found.detail}" if found.detail else found.title)
        self.problem = found


class StillParsing(ClientError):
    """The site has the report or file on its disk and has not read it yet; ``answer.url`` tells later."""

    def __init__(self, answer: UploadAnswer) -> None:
        super().__init__("still being parsed by the site")
        self.answer = answer
