"""Verifies a webhook of the Receivables Fund Assignment and Settlement Service.

Copy this one file into your receiver: it needs nothing but Python 3.8 or later. Pass the body as the bytes that came in,
before any JSON parser has touched them.
"""

import hashlib
import hmac
import re
import time
from typing import Iterable, Mapping, Optional, Union

DEFAULT_TOLERANCE_SECONDS = 300


class WebhookRejected(Exception):
    """Answer such a request with 401 and forget it. `reason`: missing_header, stale_timestamp or wrong_signature."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


def _header(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name)
    if not value:
        raise WebhookRejected("missing_header", f"the header {name} is missing")
    return value


def sent_bytes(header: str) -> bytes:
    """Some servers hand on bytes that are no text as characters that no text has."""
    return header.encode(errors="backslashreplace")


def _matches(received: str, secret: str, message: bytes) -> bool:
    """Takes the same time wherever the difference is, so that nobody can find a signature by trying."""
    expected = hmac.new(secret.encode(), message, hashlib.sha256).hexdigest()
    return hmac.compare_digest(sent_bytes(received), expected.encode())


def verify_webhook(
    body: bytes,
    headers: Mapping[str, str],
    secrets: Union[str, Iterable[str]],
    tolerance_seconds: int = DEFAULT_TOLERANCE_SECONDS,
    now: Optional[int] = None,
) -> str:
    """Returns the event's id, by which you recognise an event that you have handled already.

    `body` is bytes, `headers` a mapping with lower-case names, `now` UNIX seconds. `secrets` is the subscription's
    signing_secret, or while it is rotated a list of the new one and the old one.
    Handle the body only after this. Raises WebhookRejected.
    """
    known = [secrets] if isinstance(secrets, str) else list(secrets)
    if not known or not all(known):
        raise ValueError("there is no signing secret, or an empty one")
    event_id = _header(headers, "x-svc-event-id")
    timestamp = _header(headers, "x-svc-timestamp")
    plain = _header(headers, "x-svc-signature")
    timed = _header(headers, "x-svc-signature-v2")
    prefix = sent_bytes(f"{event_id}.{timestamp}.")
    if not any(_matches(plain, one, body) and _matches(timed, one, prefix + body) for one in known):
        raise WebhookRejected("wrong_signature", "not signed with these secrets, or changed on the way")
    current = int(time.time()) if now is None else now
    if not re.fullmatch(r"[0-9]{1,12}", timestamp) or not abs(current - int(timestamp)) <= tolerance_seconds:
        raise WebhookRejected("stale_timestamp", f"sent at {timestamp}, which is too far from now")
    return event_id
