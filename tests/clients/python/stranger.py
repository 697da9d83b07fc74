"""Somebody who has nothing but the package, an address and credentials: a whole life, with whatever goes wrong on the way."""

import json
import os
import ssl
import threading
import time
from collections.abc import Callable
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar
from unittest import mock

from receivables_fund import ApiError, Client, ReceivablesError, WebhookRejected, verify_webhook
from receivables_fund.types import Event, LoanData, Settlement

PDF = b"%PDF-1.4\n%%EOF\n"
LONGEST = 60  # seconds until something that has to happen has happened
Seen = TypeVar("Seen")


def until(look: Callable[[], Seen], holds: Callable[[Seen], object]) -> Seen:
    end = time.monotonic() + LONGEST
    while not holds(seen := look()):
        if time.monotonic() > end:
            raise TimeoutError(repr(seen))
        time.sleep(0.05)
    return seen


class Receiver:
    """Keeps genuine events once; while it is away, it answers 503."""

    def __init__(self, certificate: str) -> None:
        self.secret = "not known yet"
        self.away = False
        self.refused = 0
        self.kept: dict[str, Event] = {}
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                self.send_response(receiver.receive(body, dict(self.headers.items())))
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.url = f"https://localhost:{self.server.server_port}/hooks"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def receive(self, body: bytes, headers: dict[str, str]) -> int:
        if self.away:
            self.refused += 1
            return 503
        try:
            event = verify_webhook(body, headers, self.secret)
            assert verify_webhook(body, headers, self.secret, scheme="standard") == event
        except WebhookRejected:
            return 401
        self.kept.setdefault(event["event_id"], event)
        return 204

    def heard(self, name: str, code: str) -> str | None:
        """The id of such an event, once it has come."""
        kept = list(self.kept.values())
        return next((e["event_id"] for e in kept if (e["event"], e["originator_proposal_code"]) == (name, code)), None)


client = Client(
    os.environ["BASE"], os.environ["CLIENT_ID"], os.environ["CLIENT_SECRET"], sandbox_token_lifetime="2s"
)
receiver = Receiver(os.environ["CERTIFICATE"])


def loan(code: str) -> LoanData:
    return {
        "fund_id": os.environ["FUND"],
        "originator_proposal_code": code,
        "product_type": "financing",
        "acquisition_value": Decimal("1800.00"),
        "number_of_installments": 2,
        "date_issued": "2026-01-15",
        "borrower": {
            "document_number": "52998224725",
            "document_type": "CPF",
            "name": "Maria da Conceição",
            "birth_date": "1990-05-20",
            "address": {"zip_code": "01310100", "street": "Avenida Paulista", "number": "1", "city": "São Paulo", "state": "SP"},
        },
        "installments": [
            {"code": "001", "due_date": "2028-02-15", "face_value": Decimal("950.00")},
            {"code": "002", "due_date": "2028-03-15", "face_value": Decimal("950.50")},
        ],
        "backing_documents": [{"type": "ccb", "value": 'cessão "1".pdf'}],
    }


def assign(code: str) -> None:
    client.assign_loan(loan(code), {'cessão "1".pdf': PDF}, sandbox_fail="503-after")
    until(lambda: receiver.heard("disbursement_completed", code), bool)


# Whose certificate nobody vouches for gets no secret; with an authority of one's own, it does.
authority = ssl.create_default_context(cafile=os.environ["AUTHORITY"])
for context, expected in ((None, "not trusted"), (authority, "401 from elsewhere")):
    try:
        Client(receiver.url, "id", "secret", ssl_context=context).list_webhooks()
        raise AssertionError("answered")
    except ReceivablesError as error:
        assert expected in str(error), error

# A receiver, and an operation: what is it worth, then the real one.
hook = client.create_webhook({"url": receiver.url, "events": ["*"]})
receiver.secret = hook["signing_secret"]
quote = client.assign_loan(loan("LIFE-1"), dry_run=True)
assert sum(line["present_value"] for line in quote["lines"]) == quote["acquisition_value"] == Decimal("1800.00")
assert quote["files_checked"] is False
assign("LIFE-1")
(document,) = client.read_loan("LIFE-1")["documents"]
assert document["value"] == 'cessão "1".pdf' and client.read_document("LIFE-1", document["document_id"]) == PDF
client.add_documents(
    {"originator_proposal_code": "LIFE-1", "documents": [{"type": "invoice", "value": "invoice.pdf"}]},
    {"invoice.pdf": PDF},
    sandbox_fail="cut",
)
for code in ("LIFE-2", "LIFE-3", "LIFE-4"):
    assign(code)

# The receiver goes away, and the answer to a settlement is lost: the client asks again, and the money counts once.
last_kept = receiver.heard("disbursement_completed", "LIFE-4")
receiver.away = True
settlement: Settlement = {
    "originator_proposal_code": "LIFE-1",
    "installment_code": "001",
    "settled_at": "2026-02-15",
    "settled_value": Decimal("900.10"),
    "payment_method": "pix",
    "idempotency_key": "LIFE-1-001",
}
assert client.settle_installment(settlement, dry_run=True)["lines"][0]["difference"] == Decimal("49.90")
receipt = client.settle_installment(settlement, sandbox_fail="cut-after")
assert (receipt["status"], str(receipt["settled_value"]), str(receipt["difference"])) == ("settled", "900.10", "49.90")
again = client.settle_installment(settlement)
assert again["processed_at"] == receipt["processed_at"]
try:
    client.settle_installment({**settlement, "settled_value": 901})
    raise AssertionError("taken twice")
except ApiError as refused:
    assert (refused.status, refused.error_code, refused.retryable) == (409, "idempotency_conflict", False)
    assert refused.request_id and refused.details

# The rest of life, meanwhile.
prepaid = client.process_prepayment(
    {
        "originator_proposal_code": "LIFE-2",
        "prepayment_value": 2000,
        "prepayment_date": "2028-01-15",
        "payment_method": "pix",
    },
    sandbox_fail="cut-after",
)
assert sorted(prepaid["settled_installments"]) == ["001", "002"] and prepaid["excess_value"] > 0
left = client.request_repurchase(
    {"originator_proposal_code": "LIFE-3", "reason": "repurchase", "effective_date": "2026-06-20"}, sandbox_fail="503-after"
)
assert left["repurchase_value"] > 1800
replaced = client.renegotiate_loans_with_files(
    {
        "original_proposal_codes": ["LIFE-4"],
        "new_loan": {
            "originator_proposal_code": "LIFE-4-R",
            "number_of_installments": 1,
            "acquisition_value": Decimal("1700.00"),
            "installments": [{"code": "001", "due_date": "2028-06-15", "face_value": Decimal("2100.00")}],
            "backing_documents": [{"type": "renegotiation_document", "value": "renegotiation.pdf"}],
        },
        "effective_date": "2026-06-20",
    },
    {"renegotiation.pdf": PDF},
    sandbox_fail="429",
)
assert replaced["status"] == "renegotiated"
(line,) = client.settle_batch({"settlements": [{**settlement, "idempotency_key": "LIFE-1-001"}]})["results"]
assert line["replayed"] and line["status"] == 200

# A held operation, decided by its integrator; and time that passes.
client.assign_loan(loan("HELD-1"), {'cessão "1".pdf': PDF}, sandbox_outcome="hold")
decided = client.decide_in_sandbox(
    {"originator_proposal_code": "HELD-1", "decision": "reject", "reasons": [{"code": "limit", "message": "Enough of it"}]}
)
assert (decided["outcome"], decided["status"]) == ("applied", "rejected")
before = client.read_sandbox_clock()["offset_seconds"]
assert client.move_sandbox_clock({"advance": "30d"})["offset_seconds"] - before >= 30 * 86_400

# This machine sleeps, and its clock with it: the token expires unnoticed, and no call fails for it.
with mock.patch("receivables_fund.tokens.monotonic", return_value=0.0):
    token = client._tokens.current()
    until(lambda: (client.list_webhooks(), client._tokens.current())[1], lambda current: current != token)

# What the receiver missed is in the feed.
until(lambda: client.read_loan("LIFE-4-R")["status"], lambda status: status == "active")
until(lambda: client.read_loan("LIFE-3")["status"], lambda status: status == "repurchased")
missed = list(client.all_events(after=last_kept, limit=2))
names = {(event["event"], event["originator_proposal_code"]) for event in missed}
assert {
    ("installment_settled", "LIFE-1"),
    ("installment_underpaid", "LIFE-1"),
    ("loan_fully_settled", "LIFE-2"),
    ("repurchase_completed", "LIFE-3"),
    ("renegotiation_completed", "LIFE-4"),
    ("loan_rejected", "HELD-1"),
} <= names, names
assert not {event["event_id"] for event in missed} & set(receiver.kept)

# It comes back, and asks for all that failed in that span of time.
failed = until(
    lambda: list(client.all_deliveries(hook["webhook_id"], status="failed")),
    lambda entries: {event["event_id"] for event in missed} <= {entry["event_id"] for entry in entries},
)
receiver.away = False
asked = client.redeliver_webhook(hook["webhook_id"], {"since": min(entry["created_at"] for entry in failed)})
done = until(
    lambda: client.read_redelivery(hook["webhook_id"], asked["redelivery_id"]), lambda one: one["status"] != "running"
)
assert (done["status"], done["delivered"], done["failed"]) == ("completed", len(failed), 0), done
assert [receiver.kept[event["event_id"]] for event in missed] == missed

# One settlement, whoever is asked.
settled = [event for event in receiver.kept.values() if event["event"] == "installment_settled"]
received = client.read_loan("LIFE-1")["balances"]["received_value"]
assert [str(event["settled_value"]) for event in settled] == ["900.10"] and str(received) == "900.10"
client.delete_webhook(hook["webhook_id"])
statuses = {entry["originator_proposal_code"]: entry["status"] for entry in client.all_loans(limit=2)}
print(json.dumps({"statuses": statuses, "missed": len(missed), "refused": receiver.refused >= len(missed)}))
