"""Webhooks: whether one is genuine, and what it says."""

import base64
import hashlib
import hmac
import re
import time
from collections.abc import Iterable, Mapping

from .types import Event
from .verify import DEFAULT_TOLERANCE_SECONDS, WebhookRejected, verify_webhook
from .wire import decoded

__all__ = ["WebhookRejected", "verified_event", "verify_standard_webhook", "verify_webhook"]


def verified_event(
    body: bytes,
    headers: Mapping[str, str],
    secrets: str | Iterable[str],
    *,
    tolerance_seconds: int = DEFAULT_TOLERANCE_SECONDS,
    now: int | None = None,
) -> Event:
    """
    The event of a genuine webhook: `body` as the bytes that came in, and `secrets` one signing secret, or while it is
    rotated the new and the old one. The same event may come again: drop an `event_id` that you know.
    Raises WebhookRejected, which you answer with 401.
    """
    verify_webhook(body, _lower(headers), secrets, tolerance_seconds, now)
    event: Event = decoded(body)
    return event


def verify_standard_webhook(
    body: bytes,
    headers: Mapping[str, str],
    secrets: str | Iterable[str],
    *,
    tolerance_seconds: int = DEFAULT_TOLERANCE_SECONDS,
    now: int | None = None,
) -> str:
    """
    The event's id, after a look at `webhook-signature` alone, as Standard Webhooks defines it: for receivers that get no
    header but those. Raises WebhookRejected.
    """
    given = _lower(headers)
    event_id, timestamp, signatures = (given.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    if not (event_id and timestamp and signatures):
        raise WebhookRejected("missing_header", "a header of Standard Webhooks is missing")
    signed = f"{event_id}.{timestamp}.".encode() + body
    known = [secrets] if isinstance(secrets, str) else list(secrets)
    expected = [_standard_signature(secret, signed) for secret in known]
    received = [one.partition(",")[2] for one in signatures.split(" ") if one.startswith("v1,")]
    if not expected:
        raise ValueError("there is no signing secret")
    if not any(hmac.compare_digest(one.encode(), own) for one in received for own in expected):
        raise WebhookRejected("wrong_signature", "not signed with these secrets, or changed on the way")
    current = int(time.time()) if now is None else now
    if not re.fullmatch(r"[0-9]{1,12}", timestamp) or abs(current - int(timestamp)) > tolerance_seconds:
        raise WebhookRejected("stale_timestamp", f"sent at {timestamp}, which is too far from now")
    return event_id


def _standard_signature(secret: str, signed: bytes) -> bytes:
    text = secret.removeprefix("whsec_").rstrip("=")
    if not text:
        raise ValueError("a signing secret is empty")
    key = base64.b64decode(text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4))
    return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
