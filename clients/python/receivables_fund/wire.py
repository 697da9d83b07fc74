"""JSON in which an amount keeps its digits, and forms with files."""

import json
import mimetypes
import secrets
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

LONGEST_NUMBER = 30  # digits; the longest amount of the service has eleven


def encoded(value: Any) -> str:
    """Raises TypeError for a float, which is no exact amount, and for what JSON does not have."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(str(key))}: {encoded(one)}" for key, one in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(encoded, value)) + "]"
    if isinstance(value, Decimal):
        if not value.is_finite() or abs(value.adjusted()) > LONGEST_NUMBER:
            raise ValueError(f"{value} is no amount")
        return format(value, "f")
    if isinstance(value, float):
        raise TypeError(f"{value!r} is a float: write amounts as Decimal('{value}'), which is exact")
    return json.dumps(value)


def decoded(text: bytes | str) -> Any:
    """Numbers with a fraction become Decimal."""
    return json.loads(text, parse_float=Decimal)


def form(part: str, body: str, files: Mapping[str, bytes]) -> tuple[bytes, str]:
    """The bytes of a multipart/form-data, and its Content-Type."""
    boundary = secrets.token_hex(16)
    pieces = [_piece(boundary, f'name="{part}"', "application/json", body.encode())]
    for name, content in files.items():
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
        pieces.append(_piece(boundary, f'name="files"; filename="{_quoted(name)}"', kind, content))
    return b"".join([*pieces, f"--{boundary}--\r\n".encode()]), f"multipart/form-data; boundary={boundary}"


def _piece(boundary: str, name: str, kind: str, content: bytes) -> bytes:
    head = f"--{boundary}\r\nContent-Disposition: form-data; {name}\r\nContent-Type: {kind}\r\n\r\n"
    return head.encode() + content + b"\r\n"


def _quoted(name: str) -> str:
    """Raises ValueError for a name that no form can carry."""
    if any(character < " " for character in name):
        raise ValueError(f"{name!r} has a control character, which no document's name has")
    return name.replace("\\", "\\\\").replace('"', '\\"')
