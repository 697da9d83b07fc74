import errno
import pickle
import socket
import threading
import unittest
from decimal import Decimal
from http.server import BaseHTTPRequestHandler
from unittest import mock

from receivables_fund import ApiError, Client, NoAnswer, Patience, ReceivablesError
from receivables_fund.tokens import Token
from receivables_fund.transport import seconds_of
from receivables_fund.types import FieldViolation, FilesData, Prepayment, RepurchaseRequest, Settlement
from scripted import AgainstScripted, cuts, refuses, says

SETTLEMENT: Settlement = {
    "originator_proposal_code": "OP-1",
    "installment_code": "001",
    "settled_at": "2026-02-15",
    "settled_value": Decimal("950.00"),
    "payment_method": "pix",
}
PREPAYMENT: Prepayment = {
    "originator_proposal_code": "OP-1",
    "prepayment_value": 100,
    "prepayment_date": "2026-06-20",
    "payment_method": "pix",
}
HOOK = says(200, {"webhook_id": "w-1"})


class WhatIsSentAgain(AgainstScripted):
    def test_a_read_after_whatever_may_pass(self) -> None:
        unavailable = refuses(503, "service_unavailable", True, Retry_After="7")
        self.service.answers = [unavailable, cuts, says(502, b"<html>", Content_Type="text/html"), says(200, {"data": []})]
        self.assertEqual(self.client.list_webhooks(), {"data": []})
        self.assertEqual(len(self.service.asked), 4)
        first, second, third = self.pauses
        self.assertTrue(7 <= first <= 8 and 0.5 <= second <= 1 and 1 <= third <= 2, self.pauses)

    def test_a_write_with_a_key_byte_for_byte(self) -> None:
        for lost in (cuts, refuses(409, "concurrent_modification", True), refuses(500, "internal_error")):
            self.service.asked.clear()
            self.service.answers = [lost, says(200, {"status": "settled"})]
            self.client.settle_installment(SETTLEMENT)
            first, second = self.service.asked
            self.assertEqual(first.content, second.content)
        self.assertNotIn("idempotency_key", SETTLEMENT)

    def test_half_an_answer_is_none(self) -> None:
        self.service.answers = [says(200, {"status": "settled"}, Content_Length="500"), says(200, {"status": "settled"})]
        self.assertEqual(self.client.settle_installment(SETTLEMENT), {"status": "settled"})

    def test_half_the_headers_are_none(self) -> None:
        def half(handler: BaseHTTPRequestHandler) -> None:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\nContent-L")

        self.service.answers = [half, says(200, b"%PDF-1.4")]
        self.assertEqual(self.client.read_document("OP-1", "d-1"), b"%PDF-1.4")

    def test_what_could_be_done_twice_only_when_it_was_not_done_once(self) -> None:
        self.service.answers = [refuses(429, "rate_limited", True), refuses(409, "concurrent_modification", True), HOOK]
        self.client.create_webhook({"url": "https://hooks.example.com", "events": ["*"]})
        self.service.answers = [cuts, HOOK]
        with self.assertRaises(NoAnswer) as lost:
            self.client.create_webhook({"url": "https://hooks.example.com", "events": ["*"]})
        self.assertTrue(lost.exception.maybe_done)
        self.service.answers = [refuses(503, "service_unavailable", True), HOOK]
        with self.assertRaises(ApiError) as refused:
            self.client.redeliver_webhook("w-1", {"since": "2026-01-15T12:00:00Z"})
        self.assertTrue(refused.exception.retryable and refused.exception.maybe_done)
        self.assertEqual(len(self.service.asked), 5)

    def test_nothing_that_was_refused_for_good(self) -> None:
        self.service.answers = [refuses(409, "idempotency_conflict")]
        with self.assertRaises(ApiError) as refused:
            self.client.settle_installment({**SETTLEMENT, "idempotency_key": "mine"})
        error = refused.exception
        self.assertEqual((error.status, error.error_code, error.request_id), (409, "idempotency_conflict", "r-1"))
        self.assertEqual(error.idempotency_key, self.service.asked[0].body["idempotency_key"])
        self.assertEqual(str(pickle.loads(pickle.dumps(error))), "409 idempotency_conflict: no (request r-1)")

    def test_what_is_refused_names_each_broken_rule_once(self) -> None:
        rules: list[FieldViolation] = [
            {"field": "settled_value", "code": "invalid_amount", "message": "must be a JSON number"},
            {"field": "settled_at", "code": "invalid_date", "message": "must be a day"},
        ]
        message = "settled_value must be a JSON number (and 1 more)"
        error = ApiError(400, "validation_error", message, rules, "r-1", False, None)
        self.assertEqual(str(error), f"400 validation_error: {message}; settled_at must be a day (request r-1)")
        said: FieldViolation = {"field": "code", "code": "loan_not_found", "message": "no operation has this code"}
        error = ApiError(404, "loan_not_found", "no operation has this code", [said], "r-1", False, None)
        self.assertEqual(str(error), "404 loan_not_found: no operation has this code (request r-1)")

    def test_under_the_key_that_follows_from_what_can_be_done_once(self) -> None:
        self.service.answers = [says(200, {})] * 5
        leaving: RepurchaseRequest = {
            "originator_proposal_code": "OP-1",
            "reason": "resolution",
            "effective_date": "2026-06-20",
        }
        self.client.settle_installment(SETTLEMENT)
        self.client.settle_installment({**SETTLEMENT, "originator_proposal_code": "OP", "installment_code": "1-001"})
        self.client.request_repurchase(leaving)
        self.client.process_prepayment(PREPAYMENT)
        self.client.process_prepayment(PREPAYMENT)
        settled, other, left, *prepaid = (asked.body["idempotency_key"] for asked in self.service.asked)
        self.assertEqual((settled, other, left), ("OP-1-001", "OP/1-001", "OP-1-resolution"))
        self.assertEqual(len({len(key) for key in prepaid} | set(prepaid)), 3)

    def test_nothing_for_ever_and_the_key_is_told(self) -> None:
        self.service.answers = [cuts, cuts, cuts, cuts]
        with self.assertRaises(NoAnswer) as lost:
            self.client.process_prepayment(PREPAYMENT)
        keys = {asked.body["idempotency_key"] for asked in self.service.asked}
        self.assertEqual((keys, len(self.service.asked)), ({lost.exception.idempotency_key}, 4))

    def test_who_gives_up_learns_whether_it_may_have_been_done(self) -> None:
        busy, expired = refuses(429, "rate_limited", True), refuses(401, "token_expired")
        for answers, maybe_done in (
            ([cuts, busy, busy, busy], True),
            ([busy] * 4, False),
            ([refuses(503, "service_unavailable", True), expired, expired], True),
            ([cuts, refuses(422, "operation_invalid_state")], False),
            ([cuts, *[refuses(409, "concurrent_modification", True)] * 3], True),
            ([cuts, says(404, b"no such host")], True),
        ):
            self.service.answers = answers
            with self.assertRaises(ApiError) as refused:
                self.client.settle_installment(SETTLEMENT)
            self.assertEqual(refused.exception.maybe_done, maybe_done)
        self.service.answers = [cuts]
        with mock.patch.object(self.client._tokens, "current", side_effect=["t", ApiError(401, None, "no", [], None, False, None)]):
            with self.assertRaises(ApiError) as refused:
                self.client.settle_installment(SETTLEMENT)
        self.assertTrue(refused.exception.maybe_done)

    def test_a_certificate_that_is_refused_does_not_make_a_lost_request_undone(self) -> None:
        for lost in (True, False):
            attempts = [NoAnswer("cut", lost), ReceivablesError("not trusted")]
            with mock.patch.object(self.client._transport, "_send_once", side_effect=attempts):
                with mock.patch.object(self.client._tokens, "current", return_value="t"):
                    with self.assertRaisesRegex(ReceivablesError, "not trusted") as refused:
                        self.client.settle_installment(SETTLEMENT)
            self.assertEqual(refused.exception.maybe_done, lost)

    def test_a_service_that_says_nothing_is_waited_for_as_long_as_was_asked(self) -> None:
        over = threading.Event()
        self.addCleanup(over.set)

        def says_nothing(_: object) -> None:
            over.wait(60)

        self.service.answers = [says_nothing]
        client = Client(self.service.url, "id", "secret", timeout=0.2, patience=Patience(attempts=1))
        with self.assertRaisesRegex(NoAnswer, "timed out"):
            client.list_webhooks()

    def test_nothing_that_was_refused_while_it_was_sent(self) -> None:
        refused_early = b"HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\n{}"
        with socket.create_server(("127.0.0.1", 0)) as server:

            def refuse() -> None:
                connection, _ = server.accept()
                with connection:
                    connection.recv(1000)
                    connection.sendall(refused_early)

            threading.Thread(target=refuse).start()
            client = Client(f"http://127.0.0.1:{server.getsockname()[1]}", "id", "secret", auth_url=self.service.url)
            documents: FilesData = {"originator_proposal_code": "OP-1", "documents": [{"type": "ccb", "value": "a.pdf"}]}
            with self.assertRaises(ApiError) as refused:
                client.add_documents(documents, {"a.pdf": bytes(20_000_000)})
        self.assertEqual((refused.exception.status, refused.exception.maybe_done), (413, False))

    def test_nothing_that_asks_for_more_patience_than_there_is(self) -> None:
        self.service.answers = [refuses(503, "service_unavailable", True, Retry_After="3600")]
        with self.assertRaises(ApiError) as refused:
            self.client.list_webhooks()
        self.assertEqual((refused.exception.retry_after, self.pauses), (3600, []))

    def test_even_what_could_be_done_twice_when_nobody_listens(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as closed:
            port = closed.getsockname()[1]
        self.service.answers = []
        client = Client(f"http://127.0.0.1:{port}", "id", "secret", auth_url=self.service.url, patience=Patience(attempts=3))
        with self.assertRaises(NoAnswer) as lost:
            client.create_webhook({"url": "https://hooks.example.com", "events": ["*"]})
        self.assertEqual((lost.exception.maybe_done, len(self.pauses)), (False, 2))

    def test_a_deletion_whose_answer_was_lost_is_done_when_nothing_is_left(self) -> None:
        self.service.answers = [cuts, refuses(404, "webhook_not_found")]
        self.client.delete_webhook("w-1")
        self.service.answers = [refuses(404, "webhook_not_found")]
        with self.assertRaises(ApiError):
            self.client.delete_webhook("w-1")

    def test_a_deletion_is_not_done_because_something_between_finds_nothing(self) -> None:
        self.service.answers = [cuts, says(404, b"no such host")]
        with self.assertRaises(ApiError) as refused:
            self.client.delete_webhook("w-1")
        self.assertTrue(refused.exception.maybe_done)

    def test_even_what_could_be_done_twice_where_no_connection_comes_about(self) -> None:
        self.client._tokens._token = Token("t", float("inf"))
        for reason in (TimeoutError("timed out"), OSError(errno.EHOSTUNREACH, "No route to host")):
            self.sleep.reset_mock()
            with mock.patch("socket.create_connection", side_effect=reason), self.assertRaises(NoAnswer) as lost:
                self.client.create_webhook({"url": "https://hooks.example.com", "events": ["*"]})
            self.assertEqual((lost.exception.maybe_done, len(self.pauses)), (False, 3))
            self.assertIn(str(reason), str(lost.exception))

    def test_after_a_wait_that_is_named_by_seconds_or_a_date(self) -> None:
        with mock.patch("receivables_fund.transport.time", return_value=1_767_225_600):
            asked = ["5", "1.5", "Thu, 01 Jan 2026 00:00:09 GMT", "Wed, 31 Dec 2025 00:00:00 GMT", "soon", "-1", "inf", ""]
            self.assertEqual([seconds_of(one) for one in asked], [5, 1.5, 9, 0, None, None, None, None])
            self.service.answers = [refuses(429, "rate_limited", True, Retry_After=asked[2]), says(200, {"data": []})]
            self.client.list_webhooks()
        self.assertTrue(9 <= self.pauses[0] <= 10)

    def test_a_read_has_done_nothing_whatever_became_of_it(self) -> None:
        for answer in (cuts, says(200, b"<h1>Sign in</h1>")):
            self.service.answers = [answer] * 4
            with self.assertRaises(ReceivablesError) as failed:
                self.client.list_webhooks()
            self.assertFalse(failed.exception.maybe_done)

    def test_a_redirection_is_not_followed(self) -> None:
        self.service.answers = [says(302, {}, Location=f"{self.service.url}/elsewhere")]
        with self.assertRaises(ApiError) as refused:
            self.client.list_webhooks()
        self.assertEqual((refused.exception.status, refused.exception.error_code), (302, None))
        self.assertEqual(self.lines(), ["GET /webhook"])

    def test_a_page_of_something_between_is_no_answer_of_the_service(self) -> None:
        self.service.answers = [says(200, b"<h1>Sign in</h1>", Content_Type="text/html")]
        with self.assertRaisesRegex(ReceivablesError, "200 from elsewhere: <h1>Sign in") as refused:
            self.client.settle_installment(SETTLEMENT)
        self.assertTrue(refused.exception.maybe_done)


if __name__ == "__main__":
    unittest.main()
