"""The client: how operations are sent."""

import ssl
from collections.abc import Callable, Iterator, Mapping
from time import sleep
from typing import Any, Literal
from urllib.parse import urlencode
from uuid import uuid4

from .errors import ReceivablesError
from .operations import Operations
from .tokens import Tokens
from .transport import Asked, Patience, Transport
from .wire import encoded, form


class Client(Operations):
    """
    One for a process: threads share it, and its token. Calls answer what the service said, as dictionaries with amounts in
    Decimal, and raise ApiError or NoAnswer. Lost connections, 429 and what the service calls retryable are tried again as
    long as nothing can be done twice.
    """

    def __init__(
        self,
        base_url: str,
        client_id: str,
        client_secret: str,
        *,
        auth_url: str | None = None,
        scope: str | None = None,
        timeout: float = 60,
        patience: Patience = Patience(),
        ssl_context: ssl.SSLContext | None = None,
        headers: Mapping[str, str] = {},
        sandbox_token_lifetime: str | None = None,
    ) -> None:
        """`timeout`: seconds of each wait for the other side. `headers` go with every request, such as the sandbox's."""
        for url in (base_url, auth_url or base_url):
            if not url.startswith(("https://", "http://")):
                raise ValueError(f"{url} is no address of a service: it begins with https://, or http:// on this machine")
        self._base_url = base_url.rstrip("/")
        self._token_url = (auth_url or base_url).rstrip("/") + "/token"
        self._headers = dict(headers)
        self._transport = Transport(timeout, patience, ssl_context)
        credentials = {"client_id": client_id, "client_secret": client_secret, "scope": scope}
        self._grant = urlencode({"grant_type": "client_credentials", **_present(credentials)}).encode()
        self._token_headers = {"Content-Type": "application/x-www-form-urlencoded", **self._headers}
        if sandbox_token_lifetime:
            self._token_headers["X-Sandbox-Token-Lifetime"] = sandbox_token_lifetime
        self._tokens = Tokens(self._request_token)

    def _request_token(self) -> tuple[str, float]:
        answer = self._transport.send(Asked("POST", self._token_url, self._token_headers, self._grant)).json()
        return answer["access_token"], float(answer["expires_in"])

    def _call(
        self,
        method: str,
        path: str,
        *,
        repeatable: bool,
        query: Mapping[str, Any] = {},
        headers: Mapping[str, Any] = {},
        body: Mapping[str, Any] | None = None,
        part: str = "",
        files: Mapping[str, bytes] = {},
        key: str = "",
        dry_run: bool = False,
        answered: Literal["json", "bytes", "nothing"] = "json",
    ) -> Any:
        sent_headers = {**self._headers, **_present(headers)}
        content: bytes | None = None
        if body is not None:
            if key and body.get(key) is None:
                body = {**body, key: _key_for(body) if key == "idempotency_key" else str(uuid4())}
            if dry_run:
                body = {**body, "dry_run": True}
            content, sent_headers["Content-Type"] = (
                form(part, encoded(body), files) if part else (encoded(body).encode(), "application/json")
            )
        url = self._base_url + path
        if _present(query):
            url += "?" + urlencode(_present(query))
        try:
            answer = self._transport.send(Asked(method, url, sent_headers, content, repeatable), self._tokens)
            return answer.json() if answered == "json" else answer.body if answered == "bytes" else None
        except ReceivablesError as error:
            error.idempotency_key = body.get(key) if body is not None else None
            error.maybe_done = error.maybe_done and method != "GET"
            raise

    def _pages(
        self, read: Callable[[str | None], Any], place: str | None, pause: float | None = None
    ) -> Iterator[Any]:
        while True:
            page = read(place)
            yield from page["data"]
            place = page["next_after"] if "has_more" in page else page["next_cursor"]
            if page.get("has_more", place is not None):
                continue
            if pause is None:
                return
            sleep(pause)


def _key_for(body: Mapping[str, Any]) -> str:
    """
    An installment is settled once and an operation leaves once, so what they are about is their key, and a program that is
    started again finds what it did. Two equal prepayments can both be meant: theirs is one of chance. No operation has a slash
    in its code: where an installment has a hyphen in its own, a slash keeps `A-1` and `2` from `A` and `1-2`.
    """
    code, about = body.get("originator_proposal_code"), body.get("installment_code") or body.get("reason")
    if not (code and about):
        return str(uuid4())
    return f"{code}{'/' if '-' in str(about) else '-'}{about}"


def _present(values: Mapping[str, Any]) -> dict[str, str]:
    """What is not None, as text: lists with commas, true and false as JSON has them."""
    return {name: _text(value) for name, value in values.items() if value is not None}


def _text(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ",".join(map(_text, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
