"""What goes wrong. Errors may be pickled."""

from .types import ErrorCode, FieldViolation


class ReceivablesError(Exception):
    """Everything that a call raises, apart from mistakes in its arguments."""

    idempotency_key: str | None = None
    """What the request was sent with, given or made: with it, the same call is the same request."""

    maybe_done: bool = False
    """Whether nobody can say if a write was carried out: an attempt of it had no answer, or one of a service in trouble."""


class ApiError(ReceivablesError):
    """The service said no. Decide on `error_code`, show `message` to people, log `request_id`."""

    def __init__(
        self,
        status: int,
        error_code: ErrorCode | None,
        message: str,
        details: list[FieldViolation],
        request_id: str | None,
        retryable: bool,
        retry_after: float | None,
    ) -> None:
        """`error_code` is None where something between the client and the service answered; `retry_after` are seconds."""
        super().__init__(status, error_code, message, details, request_id, retryable, retry_after)
        self.status = status
        self.error_code = error_code
        self.message = message
        self.details = details
        self.request_id = request_id
        self.retryable = retryable
        self.retry_after = retry_after

    def __str__(self) -> str:
        rules = (f"; {one['field']} {one['message']}" for one in self.details if one["message"] not in self.message)
        fields = "".join(rules)
        return f"{self.status} {self.error_code or 'from elsewhere'}: {self.message}{fields} (request {self.request_id})"


class NoAnswer(ReceivablesError):
    """The connection failed, or the time was up."""

    def __init__(self, reason: str, sent: bool) -> None:
        """`sent`: whether the other side may have got it."""
        super().__init__(reason, sent)
        self.sent = sent

    def __str__(self) -> str:
        return str(self.args[0])
