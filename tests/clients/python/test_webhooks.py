import base64
import json
import os
import unittest
from pathlib import Path
from typing import Any

from receivables_fund import WebhookRejected, verify_webhook
from receivables_fund.verify import verify_webhook as verified_id

VECTORS = json.loads(Path(os.environ["VECTORS"]).read_text(encoding="utf-8"))["vectors"]
# From the documentation of Standard Webhooks.
STANDARD = {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
}
SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
BODY = b'{"test": 2432232314}'
SENT = 1614265330


class Ours(unittest.TestCase):
    def test_every_vector_is_judged_as_it_says(self) -> None:
        for vector in VECTORS:
            with self.subTest(vector["name"]):
                body = base64.b64decode(vector["body_base64"])
                headers = {name.title(): value for name, value in vector["headers"].items()}
                options = {"now": vector["now"], "tolerance_seconds": vector.get("tolerance_seconds", 300)}
                if not vector["accepted"]:
                    with self.assertRaises(WebhookRejected) as rejected:
                        verify_webhook(body, headers, vector["secret"], **options)
                    self.assertEqual(rejected.exception.reason, vector["reason"])
                elif body:
                    event = verify_webhook(body, headers, ["whsec_next", vector["secret"]], **options)
                    self.assertEqual(event, json.loads(body))
                else:
                    known = verified_id(body, vector["headers"], vector["secret"], **options)
                    self.assertEqual(known, vector["headers"]["x-svc-event-id"])


    def test_no_time_is_near_enough_where_the_tolerance_is_no_number(self) -> None:
        genuine = VECTORS[0]
        tolerance: Any = float("nan")
        arguments = (base64.b64decode(genuine["body_base64"]), genuine["headers"], genuine["secret"])
        with self.assertRaisesRegex(WebhookRejected, "too far"):
            verify_webhook(*arguments, now=genuine["now"], tolerance_seconds=tolerance)


class Standard(unittest.TestCase):
    def verify(self, body: bytes = BODY, secrets: str | list[str] = SECRET, now: int = SENT, **headers: str) -> object:
        given = {**STANDARD, **{name.replace("_", "-"): value for name, value in headers.items()}}
        return verify_webhook(body, given, secrets, scheme="standard", now=now)

    def test_bytes_that_are_no_text_are_no_signature(self) -> None:
        with self.assertRaisesRegex(WebhookRejected, "not signed"):
            self.verify(webhook_id="\udcff")
        with self.assertRaisesRegex(WebhookRejected, "not signed"):
            self.verify(webhook_signature="v1,\udcff")

    def test_a_genuine_one(self) -> None:
        self.assertEqual(self.verify(), {"test": 2432232314})
        self.verify(now=SENT + 300, secrets=["whsec_AAAA", SECRET])
        with_others = "v1a,AAAA v1,AAAA " + STANDARD["webhook-signature"]
        self.verify(webhook_signature=with_others)

    def test_one_that_is_not(self) -> None:
        self.assertRejected("wrong_signature", body=b'{"test": 2432232315}')
        self.assertRejected("wrong_signature", secrets="whsec_AAAA")
        self.assertRejected("wrong_signature", webhook_id="msg_other")
        self.assertRejected("wrong_signature", webhook_timestamp=str(SENT + 1))
        self.assertRejected("wrong_signature", webhook_signature="v2," + STANDARD["webhook-signature"][3:])
        self.assertRejected("wrong_signature", webhook_signature="v1,çã")
        self.assertRejected("missing_header", webhook_signature="")
        self.assertRejected("stale_timestamp", now=SENT + 301)
        self.assertRejected("stale_timestamp", now=SENT - 301)

    def assertRejected(self, reason: str, **change: object) -> None:
        with self.assertRaises(WebhookRejected) as rejected:
            self.verify(**change)  # type: ignore[arg-type]
        self.assertEqual(rejected.exception.reason, reason)

    def test_never_without_a_secret(self) -> None:
        none: list[str] = []
        for secrets in ("", "whsec_", none):
            with self.assertRaises(ValueError):
                self.verify(secrets=secrets)


if __name__ == "__main__":
    unittest.main()
