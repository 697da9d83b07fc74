"""A service that answers as it is told, and remembers what it was asked."""

import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from unittest import TestCase, mock

from receivables_fund import Client, Patience

Answer = Callable[[BaseHTTPRequestHandler], None]


def says(status: int, body: Any = None, **headers: str) -> Answer:
    content = body if isinstance(body, bytes) else json.dumps(body).encode()

    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(status)
        for name, value in {"Content_Type": "application/json", "Content_Length": str(len(content)), **headers}.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.end_headers()
        handler.wfile.write(content)

    return answer


def refuses(status: int, error_code: str, retryable: bool = False, **headers: str) -> Answer:
    body = {"error_code": error_code, "message": "no", "request_id": "r-1", "retryable": retryable}
    return says(status, body, **headers)


def cuts(handler: BaseHTTPRequestHandler) -> None:
    handler.connection.shutdown(2)


class Asked:
    def __init__(self, handler: BaseHTTPRequestHandler) -> None:
        self.line = f"{handler.command} {handler.path}"
        self.headers = handler.headers
        self.content = handler.rfile.read(int(handler.headers.get("Content-Length", 0)))

    @property
    def body(self) -> Any:
        return json.loads(self.content)


class Scripted:
    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.asked: list[Asked] = []
        self.tokens = 0
        self.token_answers: list[Answer] = []
        script = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self) -> None:
                asked = Asked(self)
                if asked.line == "POST /token":
                    script.tokens += 1
                    token = says(200, {"access_token": f"t{script.tokens}", "expires_in": 3600})
                    (script.token_answers.pop(0) if script.token_answers else token)(self)
                else:
                    script.asked.append(asked)
                    script.answers.pop(0)(self)

            do_GET = do_POST = do_PATCH = do_DELETE = answer

            def log_message(self, *_: Any) -> None: ...

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


class AgainstScripted(TestCase):
    """A client whose pauses take no time, and are remembered."""

    def setUp(self) -> None:
        self.service = Scripted()
        self.addCleanup(self.service.close)
        self.client = Client(self.service.url, "id", "secret", patience=Patience(attempts=4), timeout=30)
        sleep = mock.patch("receivables_fund.transport.sleep", side_effect=lambda _: None)
        self.sleep = sleep.start()
        self.addCleanup(sleep.stop)

    @property
    def pauses(self) -> list[float]:
        return [call.args[0] for call in self.sleep.call_args_list]

    def lines(self) -> list[str]:
        return [asked.line for asked in self.service.asked]
