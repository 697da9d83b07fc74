import email
import unittest
from decimal import Decimal
from typing import Any
from unittest import mock

from receivables_fund.wire import decoded, encoded, form
from scripted import AgainstScripted, says


class Amounts(unittest.TestCase):
    def test_keep_their_digits_there_and_back(self) -> None:
        for text in ("950.00", "0.01", "999999999.99", "0.00", "-3.10"):
            self.assertEqual(encoded({"value": Decimal(text)}), f'{{"value": {text}}}')
            self.assertEqual(str(decoded(f'{{"value": {text}}}')["value"]), text)
        self.assertEqual(encoded([Decimal("1E+3"), 5, True, None]), "[1000, 5, true, null]")

    def test_are_no_floats_and_nothing_endless(self) -> None:
        with self.assertRaisesRegex(TypeError, r"950.1 is a float: write amounts as Decimal\('950.1'\)"):
            encoded({"settled_value": 950.1})
        for endless in ("NaN", "Infinity", "1E+999999999"):
            with self.assertRaisesRegex(ValueError, "no amount"):
                encoded(Decimal(endless))

    def test_texts_are_those_of_json(self) -> None:
        for text in ('"quotes" \\ and \n', "ação 𝄞", "\ud800"):
            self.assertEqual(decoded(encoded({text: text})), {text: text})


class Forms(unittest.TestCase):
    def test_name_their_files_and_keep_every_byte(self) -> None:
        files = {"contrato de cessão.pdf": bytes(range(256)), 'a "b".pdf': b"\r\n--", "signed.docx": b"PK"}
        content, kind = form("loan_data", '{"name": "ção"}', files)
        message = email.message_from_bytes(f"Content-Type: {kind}\r\n\r\n".encode() + content)
        data, *parts = [part for part in message.walk() if not part.is_multipart()]
        self.assertEqual(data.get_payload(decode=True), '{"name": "ção"}'.encode())
        self.assertEqual([part.get_payload(decode=True) for part in parts], list(files.values()))
        self.assertEqual([part.get_content_type() for part in parts][:2], ["application/pdf"] * 2)

    def test_take_no_name_that_would_be_a_header(self) -> None:
        with self.assertRaisesRegex(ValueError, "control character"):
            form("loan_data", "{}", {"a.pdf\r\nX-Injected: 1": b""})


class Addresses(AgainstScripted):
    def test_lists_have_commas_and_codes_are_escaped(self) -> None:
        self.service.answers = [says(200, {"data": [], "next_cursor": None}), says(200, {"version": 1})]
        self.client.list_loans(status=["active", "settled"], overdue=True, updated_since="2026-01-15T12:00:00+00:00")
        self.client.read_loan("A+B &C")
        first = "GET /loan?status=active%2Csettled&overdue=true&updated_since=2026-01-15T12%3A00%3A00%2B00%3A00"
        self.assertEqual(self.lines(), [first, "GET /loan/A%2BB%20%26C"])

    def test_a_code_that_would_lead_elsewhere_is_refused(self) -> None:
        for code in ("", ".", ".."):
            with self.assertRaisesRegex(ValueError, "names nothing"):
                self.client.read_loan(code)
        self.assertEqual(self.lines(), [])

    def test_a_walk_ends_with_the_last_page_and_a_short_one_is_not_the_last(self) -> None:
        pages = [([1, 2], "c1"), ([], "c2"), ([3], None)]
        self.service.answers = [says(200, {"data": data, "next_cursor": cursor}) for data, cursor in pages]
        self.assertEqual(list(self.client.all_deliveries("w-1", status="failed")), [1, 2, 3])
        self.assertEqual(self.lines()[1:], [f"GET /webhook/w-1/deliveries?status=failed&cursor=c{n}" for n in (1, 2)])

    def test_the_feed_goes_on_while_there_is_more(self) -> None:
        pages = [([], "e5", True), ([{"event_id": "e7"}], "e8", False)]
        self.service.answers = [says(200, {"data": d, "next_after": after, "has_more": more}) for d, after, more in pages]
        self.assertEqual([event["event_id"] for event in self.client.all_events(after="e1", limit=2)], ["e7"])
        self.assertEqual(self.lines(), ["GET /event?after=e1&limit=2", "GET /event?after=e5&limit=2"])

    def test_the_feed_is_followed_from_where_it_ended(self) -> None:
        pages = [(["a"], "e1"), ([], "e1"), (["b"], "e2")]
        self.service.answers = [says(200, {"data": d, "next_after": after, "has_more": False}) for d, after in pages]
        with mock.patch("receivables_fund.client.sleep") as sleep:
            feed = self.client.follow_events(pause=7)
            self.assertEqual([next(feed), next(feed)], ["a", "b"])
        self.assertEqual(sleep.call_args_list, [mock.call(7)] * 2)
        self.assertEqual(self.lines(), ["GET /event", "GET /event?after=e1", "GET /event?after=e1"])

    def test_a_quote_is_asked_for_in_the_body_and_never_taken_back(self) -> None:
        self.service.answers = [says(200, {"status": "quoted"})] * 2
        prepayment: Any = {"originator_proposal_code": "OP-1", "prepayment_value": 100}
        self.client.process_prepayment(prepayment, dry_run=True)
        prepayment["dry_run"] = True
        self.client.process_prepayment(prepayment)
        self.assertEqual([asked.body["dry_run"] for asked in self.service.asked], [True, True])


if __name__ == "__main__":
    unittest.main()
