"""Access tokens: one for all threads, replaced before it ends."""

from collections.abc import Callable
from concurrent.futures import Future
from copy import copy
from threading import Lock
from time import monotonic
from typing import NamedTuple

from .errors import NoAnswer, ReceivablesError

SHORTLY = 300  # seconds before its end a token is replaced, or a tenth of its life before, where that is less


class Token(NamedTuple):
    value: str
    good_until: float


class Tokens:
    def __init__(self, request: Callable[[], tuple[str, float]]) -> None:
        """`request` answers a new token, and the seconds for which it lives."""
        self._request = request
        self._lock = Lock()
        self._token = Token("", 0)
        self._requested: Future[Token] | None = None

    def current(self) -> str:
        """Whoever asks while a token is on its way waits for that one, and meets its failure, too."""
        with self._lock:
            if monotonic() < self._token.good_until:
                return self._token.value
            requested, first = self._requested, self._requested is None
            if requested is None:
                requested = self._requested = Future()
        if first:
            self._fetch(requested)
        try:
            return requested.result().value
        except ReceivablesError as error:
            raise copy(error) from error.__cause__

    def drop(self, refused: str) -> None:
        """Unless somebody has replaced it already."""
        with self._lock:
            if self._token.value == refused:
                self._token = Token("", 0)

    def _fetch(self, requested: Future[Token]) -> None:
        begun = monotonic()
        try:
            value, seconds = self._request()
            token = Token(value, begun + seconds - min(SHORTLY, seconds / 10))
        except BaseException as error:
            with self._lock:
                self._requested = None
            if isinstance(error, ReceivablesError):
                return requested.set_exception(error)
            requested.set_exception(NoAnswer("the request for a token was given up", False))
            raise
        with self._lock:
            self._token, self._requested = token, None
        requested.set_result(token)
