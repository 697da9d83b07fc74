import { ASSIGNED, FILE, REDELIVERED, SUBSCRIBED, literal, preparations, provided, tidying } from './plan.ts';
import type { Notation, Plan, Preparing, SampleBody, Variable } from './plan.ts';

const NAMES: Readonly<Record<Variable, string>> = {
  code: 'code',
  fund: 'os.environ["FUND_ID"]',
  document: 'document_id',
  webhook: 'webhook_id',
  event: 'event_id',
  redelivery: 'redelivery_id',
};

const quoted = (text: string): string => {
  const [, whole] = /^\{(\w+)\}$/.exec(text) ?? [];
  if (whole !== undefined) return NAMES[whole as Variable];
  if (!text.includes('{')) return JSON.stringify(text);
  return `f"${text.replaceAll(/\{(\w+)\}/g, (_, name: Variable) => `{${NAMES[name]}}`)}"`;
};

const PYTHON: Notation = {
  key: (name) => `"${name}": `,
  text: quoted,
  trailingComma: true,
  indent: '    ',
  padding: '',
};

const imports = (plan: Plan): string => {
  const own = plan.usesFile ? ['uuid'] : [];
  return ['json', 'os', 'time', 'urllib.error', 'urllib.request', ...own]
    .map((name) => `import ${name}`)
    .join('\n');
};

const sending = (base: string): string => `def send(method, path, body=None, media_type="application/json"):
    headers = {"Authorization": f"Bearer {os.environ['TOKEN']}"}
    if body is not None:
        headers["Content-Type"] = media_type
    request = urllib.request.Request(f"${base}{path}", body, headers, method=method)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.read()
    except urllib.error.HTTPError as refusal:
        if refusal.code != 429:
            raise SystemExit(refusal.read().decode())
        time.sleep(int(refusal.headers["Retry-After"]))
        return send(method, path, body, media_type)`;

const FORM = `def form(part, data, file_name):
    boundary = uuid.uuid4().hex
    before = f"""--{boundary}
Content-Disposition: form-data; name="{part}"

{json.dumps(data)}
--{boundary}
Content-Disposition: form-data; name="files"; filename="{file_name}"

"""
    with open("${FILE}", "rb") as file:
        content = file.read()
    body = before.replace("\\n", "\\r\\n").encode() + content + f"\\r\\n--{boundary}--\\r\\n".encode()
    return body, f"multipart/form-data; boundary={boundary}"`;

const call = (method: string, path: string, body?: SampleBody): string => {
  const start = `send("${method}", ${quoted(path)}`;
  if (!body) return `${start})`;
  const value = literal(body.value, PYTHON, '', start.length);
  if (!body.form) return `${start}, json.dumps(${value}).encode())`;
  return `${start}, *form("${body.form.part}", ${value}, "${body.form.fileName}"))`;
};

const PREPARING: Preparing = {
  comment: '#',
  code: 'code = f"OP-{uuid.uuid4()}"',
  assign: () => call('POST', '/loan', ASSIGNED),
  untilActive: () =>
    `while json.loads(${call('GET', '/loan/{code}')})["status"] not in ("active", "rejected"):\n    time.sleep(1)`,
  document: () => `document_id = json.loads(${call('GET', '/loan/{code}')})["documents"][0]["document_id"]`,
  subscribe: () =>
    `subscription = json.loads(${call('POST', '/webhook', SUBSCRIBED)})\nwebhook_id = subscription["webhook_id"]`,
  ping: () => `event_id = json.loads(${call('POST', '/webhook/{webhook}/ping')})["event_id"]`,
  redeliver: () =>
    `redelivery = json.loads(${call('POST', '/webhook/{webhook}/redeliver', REDELIVERED)})\nredelivery_id = redelivery["redelivery_id"]`,
  unsubscribe: () => call('DELETE', '/webhook/{webhook}'),
};

const requestOf = ({ method, path, body, answer, subscription }: Plan): string => {
  const sent = call(method, path, body);
  if (answer === 'nothing') return sent;
  if (answer === 'file') return `with open("stored.pdf", "wb") as file:\n    file.write(${sent})`;
  const shown = `answer = json.loads(${sent})\nprint(answer)`;
  return subscription === 'created' ? `${shown}\nwebhook_id = answer["webhook_id"]` : shown;
};

export const pythonSample = (plan: Plan, base: string): string =>
  [
    `# Python 3, nothing to install. ${provided(plan)}\n${imports(plan)}`,
    `\n${sending(base)}`,
    ...(plan.usesFile ? [`\n${FORM}`] : []),
    ...preparations(plan, PREPARING).map((text, index) => (index === 0 ? `\n${text}` : text)),
    requestOf(plan),
    ...tidying(plan, PREPARING),
  ].join('\n\n');

export const pythonToken = (authUrl: string): string =>
  `# Python 3, nothing to install. In the environment: CLIENT_ID and CLIENT_SECRET.
import json
import os
import urllib.error
import urllib.parse
import urllib.request

fields = {
    "grant_type": "client_credentials",
    "client_id": os.environ["CLIENT_ID"],
    "client_secret": os.environ["CLIENT_SECRET"],
}
try:
    with urllib.request.urlopen("${authUrl}/token", urllib.parse.urlencode(fields).encode()) as answer:
        print(json.load(answer))
except urllib.error.HTTPError as refusal:
    raise SystemExit(refusal.read().decode())`;

export const pythonPublic = (url: string): string =>
  `import urllib.request\n\nwith urllib.request.urlopen("${url}") as answer:\n    print(answer.read().decode())`;
