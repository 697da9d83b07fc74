"""Webhooks: whether one is genuine, and what it says."""

import base64
import hashlib
import hmac
import re
import time
from collections.abc import Iterable, Mapping
from typing import Literal

from . import verify
from .types import Event
from .verify import WebhookRejected
from .wire import decoded


def verify_webhook(
    body: bytes,
    headers: Mapping[str, str],
    secrets: str | Iterable[str],
    *,
    scheme: Literal["svc", "standard"] = "svc",
    tolerance_seconds: int = verify.DEFAULT_TOLERANCE_SECONDS,
    now: int | None = None,
) -> Event:
    """
    The event of a genuine webhook: `body` as the bytes that came in, and `secrets` one signing secret, or while it is
    rotated the new and the old one. The same event may come again: drop an `event_id` that you know.
    `standard` looks at the headers of Standard Webhooks instead of ours, for receivers that get no others.
    Raises WebhookRejected, which you answer with 401.
    """
    given = {name.lower(): value for name, value in headers.items()}
    known = [secrets] if isinstance(secrets, str) else list(secrets)
    check = _verify_standard if scheme == "standard" else verify.verify_webhook
    check(body, given, known, tolerance_seconds, int(time.time()) if now is None else now)
    event: Event = decoded(body)
    return event


def _verify_standard(
    body: bytes, headers: Mapping[str, str], secrets: list[str], tolerance_seconds: int, now: int
) -> str:
    event_id, timestamp, signatures = (headers.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature"))
    if not (event_id and timestamp and signatures):
        raise WebhookRejected("missing_header", "a header of Standard Webhooks is missing")
    signed = verify.sent_bytes(f"{event_id}.{timestamp}.") + body
    expected = [_standard_signature(secret, signed) for secret in secrets]
    if not expected:
        raise ValueError("there is no signing secret")
    received = [one.partition(",")[2] for one in signatures.split(" ") if one.startswith("v1,")]
    if not any(hmac.compare_digest(verify.sent_bytes(one), own) for one in received for own in expected):
        raise WebhookRejected("wrong_signature", "not signed with these secrets, or changed on the way")
    if not re.fullmatch(r"[0-9]{1,12}", timestamp) or not abs(now - int(timestamp)) <= tolerance_seconds:
        raise WebhookRejected("stale_timestamp", f"sent at {timestamp}, which is too far from now")
    return event_id


def _standard_signature(secret: str, signed: bytes) -> bytes:
    """The key is what the secret encodes, in either alphabet of Base64."""
    text = secret.removeprefix("whsec_").rstrip("=")
    if not text:
        raise ValueError("a signing secret is empty")
    key = base64.b64decode(text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4))
    return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
