"""Client of the Receivables Fund Assignment and Settlement Service."""

from .client import Client
from .errors import ApiError, NoAnswer, ReceivablesError
from .transport import Patience
from .types import API_VERSION
from .verify import WebhookRejected
from .webhooks import verify_webhook

__version__ = API_VERSION

__all__ = [
    "API_VERSION",
    "ApiError",
    "Client",
    "NoAnswer",
    "Patience",
    "ReceivablesError",
    "WebhookRejected",
    "verify_webhook",
]
