import threading
import unittest
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from unittest import mock

from receivables_fund import ApiError
from receivables_fund.tokens import Token, Tokens
from scripted import AgainstScripted, refuses, says

LISTED = says(200, {"data": []})


class TokensOfAClient(AgainstScripted):
    def authorised(self) -> list[str]:
        return [asked.headers["Authorization"] for asked in self.service.asked]

    def test_one_for_many_requests(self) -> None:
        self.service.answers = [LISTED] * 3
        for _ in range(3):
            self.client.list_webhooks()
        self.assertEqual((self.service.tokens, self.authorised()), (1, ["Bearer t1"] * 3))

    def test_replaced_at_once_when_it_is_refused(self) -> None:
        for number, code in enumerate(("token_expired", "invalid_token"), 1):
            self.service.answers = [refuses(401, code), LISTED]
            self.client.list_webhooks()
            self.assertEqual(self.authorised()[-2:], [f"Bearer t{number}", f"Bearer t{number + 1}"])
        self.assertEqual(self.pauses, [])

    def test_replaced_once_and_no_more(self) -> None:
        self.service.answers = [refuses(401, "token_expired"), refuses(401, "token_expired")]
        with self.assertRaises(ApiError) as refused:
            self.client.list_webhooks()
        self.assertEqual((refused.exception.error_code, self.service.tokens), ("token_expired", 2))

    def test_a_write_that_nobody_repeats_is_sent_again_with_a_new_one(self) -> None:
        self.service.answers = [refuses(401, "token_expired"), says(202, {"event_id": "e"})]
        self.assertEqual(self.client.ping_webhook("w-1"), {"event_id": "e"})

    def test_asked_for_again_while_the_service_is_busy_but_not_with_a_wrong_secret(self) -> None:
        self.service.token_answers = [refuses(429, "rate_limited", True, Retry_After="3")]
        self.service.answers = [LISTED]
        self.client.list_webhooks()
        self.assertEqual((self.service.tokens, len(self.pauses)), (2, 1))
        self.client._tokens.drop("t2")
        self.service.token_answers = [refuses(401, "invalid_client")]
        with self.assertRaises(ApiError) as refused:
            self.client.list_webhooks()
        self.assertEqual((refused.exception.error_code, self.service.tokens), ("invalid_client", 3))


class TokensOfManyThreads(unittest.TestCase):
    def test_one_request_for_all_who_wait(self) -> None:
        asked, answered = threading.Event(), threading.Event()
        requests = []

        def request() -> tuple[str, float]:
            requests.append(threading.current_thread())
            asked.set()
            answered.wait(30)
            return "t", 3600

        tokens = Tokens(request)
        with ThreadPoolExecutor(40) as threads:
            first = threads.submit(tokens.current)
            asked.wait(30)
            others = [threads.submit(tokens.current) for _ in range(39)]
            answered.set()
            self.assertEqual({one.result(30) for one in [first, *others]}, {"t"})
        self.assertEqual(len(requests), 1)

    def test_a_failure_is_that_of_all_who_wait_and_the_next_asks_anew(self) -> None:
        asked, answered = threading.Event(), threading.Event()
        requests = []

        def request() -> tuple[str, float]:
            requests.append(1)
            asked.set()
            answered.wait(30)
            raise ApiError(401, "invalid_client", "no", [], None, False, None)

        waiting = threading.Semaphore(0)

        class Awaited(Future[Token]):
            def result(self, timeout: float | None = None) -> Token:
                waiting.release()
                return super().result(timeout)

        tokens = Tokens(request)
        with mock.patch("receivables_fund.tokens.Future", Awaited), ThreadPoolExecutor(9) as threads:
            first = threads.submit(tokens.current)
            asked.wait(30)
            others = [threads.submit(tokens.current) for _ in range(8)]
            for _ in others:
                self.assertTrue(waiting.acquire(timeout=30))
            answered.set()
            errors = [one.exception(30) for one in [first, *others]]
        self.assertEqual({type(one) for one in errors}, {ApiError})
        self.assertEqual((len(requests), len(set(map(id, errors)))), (1, 9))
        with self.assertRaises(ApiError):
            tokens.current()
        self.assertEqual(len(requests), 2)

    def test_what_ends_a_request_otherwise_is_raised_and_leaves_nobody_waiting(self) -> None:
        answers: Iterator[BaseException | tuple[str, float]] = iter([KeyboardInterrupt(), ("t", 3600)])

        def request() -> tuple[str, float]:
            answer = next(answers)
            if isinstance(answer, BaseException):
                raise answer
            return answer

        tokens = Tokens(request)
        with self.assertRaises(KeyboardInterrupt):
            tokens.current()
        self.assertEqual(tokens.current(), "t")

    def test_replaced_shortly_before_its_end(self) -> None:
        for lifetime, still, no_more in ((3600, 3299, 3301), (2, 1.7, 1.9)):
            numbers = iter("ab")
            with mock.patch("receivables_fund.tokens.monotonic", return_value=0) as clock:
                tokens = Tokens(lambda: (next(numbers), lifetime))
                clock.return_value = 1000
                self.assertEqual(tokens.current(), "a")
                clock.return_value = 1000 + still
                self.assertEqual(tokens.current(), "a")
                clock.return_value = 1000 + no_more
                self.assertEqual(tokens.current(), "b")

    def test_what_was_replaced_already_is_not_dropped(self) -> None:
        numbers = iter("ab")
        tokens = Tokens(lambda: (next(numbers), 3600))
        tokens.current()
        tokens.drop("a")
        self.assertEqual(tokens.current(), "b")
        tokens.drop("a")
        self.assertEqual(tokens.current(), "b")


if __name__ == "__main__":
    unittest.main()
