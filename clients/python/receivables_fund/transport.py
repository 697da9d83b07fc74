"""Sends requests, again where that is harmless."""

import logging
import re
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.message import Message
from email.utils import parsedate_to_datetime
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from itertools import count
from random import uniform
from time import monotonic, sleep, time
from typing import Any
from urllib.error import URLError
from urllib.request import HTTPErrorProcessor, HTTPHandler, HTTPSHandler, Request, build_opener

from .errors import ApiError, NoAnswer, ReceivablesError
from .tokens import Tokens
from .types import API_VERSION
from .wire import decoded

log = logging.getLogger("receivables_fund")

RENEWED_AFTER = ("token_expired", "invalid_token")
# Answers that come before the service knows whether it has carried the request out; so do those that are retryable, or not of the service.
LOOKED_AT_NO_KEY = (401, 403, 408, 429)


@dataclass(frozen=True)
class Asked:
    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    repeatable: bool = True


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Message
    body: bytes

    def json(self) -> Any:
        """Raises ApiError when something else than the service answered."""
        try:
            return decoded(self.body)
        except ValueError:
            error = refusal(self)
            error.maybe_done = True
            raise error from None


@dataclass(frozen=True)
class Patience:
    """How often, for how long and with which pauses a request is sent, in seconds."""

    attempts: int = 6
    total: float = 120
    first_pause: float = 0.5
    longest_pause: float = 30

    def pause(self, attempt: int, retry_after: float | None) -> float:
        """Differs by chance, so that clients which failed together do not come back together."""
        if retry_after is not None:
            return retry_after + uniform(0, min(1, retry_after / 10))
        return uniform(0.5, 1) * min(self.longest_pause, self.first_pause * 2.0 ** (attempt - 1))


class _AsAnswered(HTTPErrorProcessor):
    """Follows no redirection, which would carry the token elsewhere, and raises nothing for a status."""

    def http_response(self, request: Request, response: HTTPResponse) -> HTTPResponse:
        return response

    https_response = http_response


class _NotConnected(OSError):
    """Nothing was sent: no connection came about, for the reason that is its cause."""


class _Connection(HTTPConnection):
    """Reads the answer that ended its sending, such as 413 to a form that is too long."""

    def connect(self) -> None:
        try:
            super().connect()
        except OSError as error:
            raise _NotConnected(*error.args) from error

    def send(self, data: Any) -> None:
        try:
            super().send(data)
        except (BrokenPipeError, ConnectionResetError):
            if self.sock is None:
                raise


class _TlsConnection(_Connection, HTTPSConnection):
    pass


class _Http(HTTPHandler):
    def http_open(self, request: Request) -> HTTPResponse:
        return self.do_open(_Connection, request)


class _Https(HTTPSHandler):
    def __init__(self, context: ssl.SSLContext | None) -> None:
        super().__init__(context=context)
        self.context = context

    def https_open(self, request: Request) -> HTTPResponse:
        return self.do_open(_TlsConnection, request, context=self.context)


class Transport:
    def __init__(self, timeout: float, patience: Patience, context: ssl.SSLContext | None) -> None:
        self._timeout = timeout
        self._patience = patience
        self._opener = build_opener(_AsAnswered, _Http, _Https(context))
        self._announced: str | None = None

    def send(self, asked: Asked, tokens: Tokens | None = None) -> Answer:
        """Raises ApiError or NoAnswer once it is not to be sent again."""
        begun, renewed, uncertain = monotonic(), False, False
        for attempt in count(1):
            failure: ApiError | NoAnswer
            try:
                token = tokens.current() if tokens else ""
            except ReceivablesError as error:
                error.maybe_done = uncertain
                raise
            try:
                answer = self._send_once(asked, token)
            except NoAnswer as no_answer:
                failure = no_answer
                uncertain |= no_answer.sent and asked.method != "GET"
                again = asked.repeatable or not no_answer.sent
            except ReceivablesError as error:
                error.maybe_done = uncertain
                raise
            else:
                if answer.status < 300:
                    return answer
                failure = refusal(answer)
                if uncertain and asked.method == "DELETE" and answer.status == 404 and failure.error_code:
                    return answer
                if tokens and not renewed and failure.error_code in RENEWED_AFTER:
                    tokens.drop(token)
                    renewed = True
                    continue
                if answer.status >= 500:
                    uncertain = asked.method != "GET"
                    again = asked.repeatable
                else:  # this attempt has done nothing
                    undecided = answer.status in LOOKED_AT_NO_KEY or failure.retryable or not failure.error_code
                    uncertain = uncertain and undecided
                    again = failure.retryable or answer.status == 429
            pause = self._patience.pause(attempt, failure.retry_after if isinstance(failure, ApiError) else None)
            if not again or attempt >= self._patience.attempts or monotonic() - begun + pause > self._patience.total:
                failure.maybe_done = uncertain
                raise failure
            log.info("%s %s again in %.1f s: %s", asked.method, asked.url, pause, failure)
            sleep(pause)
        raise AssertionError("unreachable")

    def _send_once(self, asked: Asked, token: str) -> Answer:
        headers = {"Accept": "*/*", "User-Agent": f"receivables-fund-python/{API_VERSION}", **asked.headers}
        if token:
            headers["Authorization"] = f"Bearer {token}"
        request = Request(asked.url, asked.body, headers, method=asked.method)
        try:
            with self._opener.open(request, timeout=self._timeout) as response:
                if response.length is None and not response.chunked:  # so are headers read that were cut off
                    raise HTTPException("half of an answer")
                answer = Answer(response.status, response.headers, response.read())
        except URLError as error:
            unconnected = isinstance(error.reason, _NotConnected)
            reason = error.reason.__cause__ if isinstance(error.reason, _NotConnected) else error.reason
            if isinstance(reason, ssl.SSLCertVerificationError):
                raise ReceivablesError(f"the certificate at {asked.url} is not trusted: {reason}") from error
            raise NoAnswer(f"{asked.method} {asked.url}: {reason}", not unconnected) from error
        except (HTTPException, OSError) as error:
            raise NoAnswer(f"{asked.method} {asked.url}: {error or type(error).__name__}", True) from error
        log.debug(
            "%s %s: %d, request %s%s",
            *(asked.method, asked.url, answer.status, answer.headers.get("X-Request-Id")),
            ", replayed" if answer.headers.get("Idempotent-Replayed") == "true" else "",
        )
        self._announce(answer.headers.get("X-SVC-API-Deprecation"))
        return answer

    def _announce(self, deprecation: str | None) -> None:
        if deprecation and deprecation != self._announced:
            self._announced = deprecation
            log.warning("a change that may break this client is announced: %s", deprecation)


def refusal(answer: Answer) -> ApiError:
    try:
        body = decoded(answer.body)
        own = isinstance(body["error_code"], str)
    except (ValueError, TypeError, LookupError):
        own = False
    if not own:
        body = {"message": answer.body[:200].decode("utf-8", "replace")}
    return ApiError(
        answer.status,
        body.get("error_code"),
        str(body.get("message")),
        body.get("details") or [],
        body.get("request_id") or answer.headers.get("X-Request-Id"),
        body.get("retryable") is True,
        seconds_of(answer.headers.get("Retry-After", "")),
    )


def seconds_of(retry_after: str) -> float | None:
    """Seconds that a Retry-After asks for: a number of them, or a date."""
    try:
        if re.fullmatch(r"[0-9]{1,9}(\.[0-9]+)?", retry_after):
            return float(retry_after)
        return max(0.0, parsedate_to_datetime(retry_after).timestamp() - time())
    except (TypeError, ValueError):
        return None
