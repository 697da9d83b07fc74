"""Makes two modules from the service's description: `types.py`, what is sent and answered, and `operations.py`, a method for each
operation. What the description says and this does not know ends the build."""

import keyword
import re
import textwrap
from typing import Any, Iterator, NamedTuple

# Fields that name a request; the client makes one where it is left out.
MADE_KEYS = ("idempotency_key", "decision_id")
ENVELOPE = "EventEnvelope"  # of which each event is one
JSON = "application/json"
FORM = "multipart/form-data"
WIDTH = 116

Schema = dict[str, Any]


def modules(description: Schema) -> dict[str, str]:
    types = Types(description)
    operations = list(described_operations(description))
    written = "\n\n".join(Method(operation, types).text() for operation in operations)
    used = sorted(name for name in types.directions if re.search(rf"\b{name}\b", written))
    return {
        "types.py": types.text(),
        "operations.py": OPERATIONS.format(names="\n".join(f"    {name}," for name in used), methods=written),
    }


# Types


class Types:
    """Writes a class for each object, and a name for each list of words, when something first names it."""

    def __init__(self, description: Schema) -> None:
        self.version: str = description["info"]["version"]
        self.directions: dict[str, bool] = {}
        self._schemas: Schema = description["components"]["schemas"]
        self._blocks: list[str] = []
        events = [hook["post"]["requestBody"]["content"][JSON]["schema"] for hook in description["webhooks"].values()]
        self._alias("Event", " | ".join(self.of(event, sent=False) for event in events))
        self._alias("ErrorCode", self.of(self._schemas["Error"]["properties"]["error_code"], sent=False))

    def text(self) -> str:
        return TYPES.format(version=self.version, blocks="\n\n\n".join(self._blocks))

    def of(self, schema: Schema, sent: bool, name: str = "") -> str:
        """The type of what is sent, or else answered; `name` is for a class that the description has no name for."""
        if "$ref" in schema:
            return self._referred(schema["$ref"].rsplit("/", 1)[1], sent)
        if "const" in schema:
            return self._words([schema["const"]])
        if "enum" in schema:
            return self._words(schema["enum"])
        union = schema.get("oneOf") or schema.get("anyOf")
        if union:
            return " | ".join(self.of(one, sent, name) for one in union)
        if "properties" in schema:
            kinds = [self._object(name, schema, sent)]
            return " | ".join(kinds + ["None"] * ("null" in schema["type"]))
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        return " | ".join(self._plain(kind, schema, sent, name) for kind in kinds)

    def alternatives(self, schema: Schema) -> list[Schema]:
        """What an answer may be: one, or a receipt and a quote."""
        named = self._schemas[schema["$ref"].rsplit("/", 1)[1]] if "$ref" in schema else schema
        return named.get("oneOf") or [schema]

    def fields_of(self, schema: Schema) -> Schema:
        """The fields of an object, with those of what it extends."""
        if "$ref" in schema:
            schema = self._schemas[schema["$ref"].rsplit("/", 1)[1]]
        extended = [self.fields_of(one) for one in schema.get("allOf", []) if "$ref" in one]
        return {key: value for fields in [*extended, schema.get("properties", {})] for key, value in fields.items()}

    def _required(self, schema: Schema) -> set[str]:
        extended = [self._schemas[one["$ref"].rsplit("/", 1)[1]] for one in schema.get("allOf", []) if "$ref" in one]
        return set(schema.get("required", [])).union(*(self._required(one) for one in extended))

    def _referred(self, name: str, sent: bool) -> str:
        if name == ENVELOPE:
            return "Event"
        schema = self._schemas[name]
        return self.of(schema, sent, name)

    def _words(self, words: list[Any]) -> str:
        literal = f"Literal[{', '.join(map(repr, words))}]".replace("'", '"')
        name = next((name for name, schema in self._schemas.items() if schema.get("enum") == words), None)
        if name and name not in self.directions:
            self._alias(name, literal)
        return name or literal

    def _plain(self, kind: str, schema: Schema, sent: bool, name: str) -> str:
        if kind == "array":
            return f"{'Sequence' if sent else 'list'}[{self.of(schema['items'], sent, name.removesuffix('s'))}]"
        if kind == "number":
            return "Decimal | int" if sent or name.endswith("Seconds") else "Decimal"
        return {"string": "str", "integer": "int", "boolean": "bool", "null": "None", "object": "dict[str, Any]"}[kind]

    def _object(self, name: str, schema: Schema, sent: bool) -> str:
        if name in self.directions:
            if self.directions[name] != sent and "Decimal" in "".join(self._blocks_of(name)):
                raise ValueError(f"{name} holds amounts, and is both sent and answered")
            return name
        self.directions[name] = sent
        fields = {key: self.of(one, sent, name + camel(key)) for key, one in self.fields_of(schema).items()}
        if sent:
            fields.pop("dry_run", None)  # an argument of the method, because the answer depends on it
        required = self._required(schema) - set(MADE_KEYS if sent and name != "BatchedSettlement" else [])
        always = {key: kind for key, kind in fields.items() if key in required}
        maybe = {key: kind for key, kind in fields.items() if key not in required}
        if always and maybe:
            self._class(f"_{name}(TypedDict)", "", schema, always)
            self._class(f"{name}(_{name}, total=False)", schema.get("description", ""), schema, maybe)
        else:
            total = "" if always else ", total=False"
            self._class(f"{name}(TypedDict{total})", schema.get("description", ""), schema, fields)
        return name

    def _blocks_of(self, name: str) -> Iterator[str]:
        return (block for block in self._blocks if re.match(rf"class _?{name}\(", block))

    def _class(self, head: str, text: str, schema: Schema, fields: dict[str, str]) -> None:
        described = self.fields_of(schema)
        lines = [f"class {head}:", *docstring(text, "    ")]
        for key, kind in fields.items():
            lines += comment(described[key].get("description", ""), "    ")
            lines.append(f"    {field_name(key)}: {kind}")
        self._blocks.append("\n".join(lines))

    def _alias(self, name: str, kind: str) -> None:
        self.directions[name] = False
        self._blocks.append(f"{name}: TypeAlias = {kind}")


# Operations


class Operation(NamedTuple):
    id: str
    method: str
    path: str
    text: str
    idempotent: bool
    parameters: list[Schema]
    media: str | None
    body: Schema
    answers: list[Schema]


def described_operations(description: Schema) -> Iterator[Operation]:
    """Those that take a token; a body that may come in two shapes makes two of them."""
    shared = description["components"]["parameters"]
    for path, methods_of_path in description["paths"].items():
        for method, one in methods_of_path.items():
            if not any("bearer" in ways for ways in one.get("security", [])):
                continue
            name = one["operationId"]
            parameters = [shared[p["$ref"].rsplit("/", 1)[1]] if "$ref" in p else p for p in one.get("parameters", [])]
            done = [answer for status, answer in one["responses"].items() if status.startswith("2")]
            answers = [answer.get("content", {}).get(JSON, {}).get("schema", {}) for answer in done]
            if not any(answer.get("content") for answer in done):
                answers = []
            text = f"{one['summary'].rstrip('.')}. {one['description']}"
            idempotent = one.get("x-idempotent", False)
            bodies = one.get("requestBody", {}).get("content", {None: {"schema": {}}})
            for media, body in bodies.items():
                suffix = "WithFiles" if media == FORM and len(bodies) > 1 else ""
                fixed = (name + suffix, method.upper(), path, text, idempotent, parameters)
                yield Operation(*fixed, media, body["schema"], answers)


class Method:
    """An operation as the client has it."""

    def __init__(self, operation: Operation, types: Types) -> None:
        self.operation = operation
        self.types = types
        self.name = snake(operation.id)
        self.arguments: list[str] = []
        self.options: dict[str, str] = {}
        self.passed = [f'"{operation.method}"', self._path()]
        self._add_options("query", "query")
        self._add_options("header", "headers")
        if operation.media:
            self._add_body(operation.media == FORM)
        keyed = any(one.startswith("key=") for one in self.passed)
        self.passed.append(f"repeatable={operation.idempotent or keyed}")
        answers = [one for answer in operation.answers for one in types.alternatives(answer)]
        self.quotes = [one for one in answers if operation.media and "dry_run" in types.fields_of(one)]
        self.receipts = [one for one in answers if one not in self.quotes]

    def _named(self, place: str) -> dict[str, tuple[str, str]]:
        """Name on the wire, name in Python and type of the parameters in this place."""
        described = [one for one in self.operation.parameters if one["in"] == place]
        names = [field_name(snake(one["name"].removeprefix("X-"))) for one in described]
        return {one["name"]: (name, self.types.of(one["schema"], True)) for one, name in zip(described, names)}

    def _path(self) -> str:
        path = self.operation.path
        for wire, (name, kind) in self._named("path").items():
            self.arguments.append(f"{name}: {kind}")
            path = path.replace(f"{{{wire}}}", f"{{segment({name})}}")
        return f'f"{path}"' if self.arguments else f'"{path}"'

    def _add_options(self, place: str, word: str) -> None:
        named = self._named(place)
        self.options.update({name: f"{kind} | None" for name, kind in named.values()})
        if named:
            items = ", ".join(f'"{wire}": {name}' for wire, (name, _) in named.items())
            self.passed.append(f"{word}={{{items}}}")

    def _add_body(self, form: bool) -> None:
        schema = self.operation.body
        part, body = next(iter(schema["properties"].items())) if form else ("", schema)
        name = part or snake(body["$ref"].rsplit("/", 1)[1])
        self.arguments.append(f"{name}: {self.types.of(body, sent=True)}")
        self.passed.append(f"body={name}")
        if form:
            self.arguments.append("files: Mapping[str, bytes] = {}")
            self.passed += [f'part="{part}"', "files=files"]
        self.passed += [f'key="{key}"' for key in MADE_KEYS if key in self.types.fields_of(body)]

    def text(self) -> str:
        kinds = self._kinds(self.receipts)
        if not self.quotes:
            return "\n\n".join([self._whole([], kinds), *self._walk()])
        self.passed.append("dry_run=dry_run")
        quote = self._kinds(self.quotes)
        real = self._head(self.name, ["dry_run: Literal[False] = False"], kinds)
        tried = self._head(self.name, ["dry_run: Literal[True]"], quote)
        whole = self._whole(["dry_run: bool = False"], f"{kinds} | {quote}")
        return f"    @overload\n{real} ...\n\n    @overload\n{tried} ...\n\n{whole}"

    def _kinds(self, answers: list[Schema]) -> str:
        return " | ".join(self.types.of(one, sent=False) if one else "bytes" for one in answers) or "None"

    def _head(self, name: str, first: list[str], kinds: str, without: str = "") -> str:
        keywords = [*first, *(f"{key}: {kind} = None" for key, kind in self.options.items() if key != without)]
        every = ["self", *self.arguments, *(["*", *keywords] if keywords else [])]
        return "\n".join([f"    def {name}(", *(f"        {one}," for one in every), f"    ) -> {kinds}:"])

    def _whole(self, first: list[str], kinds: str) -> str:
        answered = {"None": ['answered="nothing"'], "bytes": ['answered="bytes"']}.get(kinds, [])
        call = "".join(["self._call(\n", *(f"            {one},\n" for one in self.passed + answered), "        )"])
        done = [f"        {call}"] if kinds == "None" else [f"        answer: {kinds} = {call}", "        return answer"]
        text = docstring(self.operation.text, "        ")
        return "\n".join([self._head(self.name, first, kinds), *text, *done])

    def _walk(self) -> Iterator[str]:
        """A method that goes along all pages of a list."""
        place = next((key for key in ("cursor", "after") if key in self.options), None)
        if not place:
            return
        page = self.types.fields_of(self.receipts[0])
        kind = self.types.of(page["data"]["items"], sent=False)
        resumes = place == "after"  # a place in the feed may be kept; a cursor is for the next page
        things = self.name.removeprefix("list_")
        head = self._head(f"all_{things}", [], f"Iterator[{kind}]", "" if resumes else place)
        own = [argument.split(":")[0] for argument in self.arguments]
        given = ", ".join([*own, *(f"{key}={key}" for key in self.options if key != place), f"{place}=place"])
        text = docstring(f"What `{self.name}` answers, one by one, page after page.", "        ")
        walk = f"self._pages(lambda place: self.{self.name}({given}), {'after' if resumes else 'None'}"
        yield "\n".join([head, *text, f"        return {walk})"])
        if resumes:
            head = self._head(f"follow_{things}", ["pause: float = 5"], f"Iterator[{kind}]")
            text = docstring("The same without an end: after `pause` seconds it looks for what is new.", "        ")
            yield "\n".join([head, *text, f"        return {walk}, pause)"])


# Texts


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).replace("-", "_").lower()


def camel(name: str) -> str:
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def field_name(name: str) -> str:
    if not name.isidentifier() or keyword.iskeyword(name):
        raise ValueError(f"{name} is no name in Python")
    return name


def docstring(text: str, indent: str) -> list[str]:
    lines = textwrap.wrap(text.replace("\\", "\\\\").replace('"', "'"), WIDTH - len(indent) - 6)
    if len(lines) > 1:
        return [f'{indent}"""', *(indent + line for line in lines), f'{indent}"""']
    return [f'{indent}"""{line}"""' for line in lines]


def comment(text: str, indent: str) -> list[str]:
    return [f"{indent}# {line}" for line in textwrap.wrap(text, WIDTH - len(indent))]


TYPES = '''"""What is sent and answered. Made from the description of the service."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, Literal, TypeAlias, TypedDict

API_VERSION = "{version}"


{blocks}
'''

OPERATIONS = '''"""A method for each operation. Made from the description of the service."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, overload
from urllib.parse import quote

from .types import (
{names}
)


def segment(text: str) -> str:
    """A part of a path. Raises ValueError for a text that would make it another path."""
    if text in ("", ".", ".."):
        raise ValueError(f"{{text!r}} names nothing: a code or an id is not empty, and not made of dots")
    return quote(text, safe="")


class Operations(ABC):
    @abstractmethod
    def _call(
        self,
        method: str,
        path: str,
        *,
        repeatable: bool,
        query: Mapping[str, Any] = {{}},
        headers: Mapping[str, Any] = {{}},
        body: Mapping[str, Any] | None = None,
        part: str = "",
        files: Mapping[str, bytes] = {{}},
        key: str = "",
        dry_run: bool = False,
        answered: Literal["json", "bytes", "nothing"] = "json",
    ) -> Any: ...

    @abstractmethod
    def _pages(
        self, read: Callable[[str | None], Any], place: str | None, pause: float | None = None
    ) -> Iterator[Any]: ...

{methods}
'''
