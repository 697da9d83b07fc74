import { ASSIGNED, FILE, REDELIVERED, SUBSCRIBED, literal, preparations, provided, tidying } from './plan.ts';
import type { Notation, Plan, Preparing, SampleBody, Variable } from './plan.ts';

const NAMES: Readonly<Record<Variable, string>> = {
  code: '$CODE',
  fund: '$FUND_ID',
  document: '$DOCUMENT_ID',
  webhook: '$WEBHOOK_ID',
  event: '$EVENT_ID',
  redelivery: '$REDELIVERY_ID',
};

const filled = (text: string, around: string): string =>
  text.replaceAll(/\{(\w+)\}/g, (_, name: Variable) => around + NAMES[name] + around);

/** JSON inside single quotes, which end where a variable stands. */
const JSON_TEXT: Notation = {
  key: (name) => `"${name}": `,
  text: (text) => filled(JSON.stringify(text).replaceAll("'", String.raw`'\''`), "'"),
  trailingComma: false,
  indent: '  ',
  padding: '',
};

const AUTHORISED = '-H "Authorization: Bearer $TOKEN"';

const bodyLines = ({ value, form }: SampleBody): readonly string[] => {
  const data = literal(value, JSON_TEXT);
  if (!form) return ["-H 'Content-Type: application/json'", `-d '${data}'`];
  const named = form.fileName === FILE ? '' : `;filename=${form.fileName}`;
  return [`-F '${form.part}=${data}'`, `-F 'files=@${FILE}${named}'`];
};

interface Call {
  readonly method: string;
  readonly path: string;
  readonly body?: SampleBody | undefined;
  readonly options?: string;
}

const ofBase =
  (base: string) =>
  ({ method, path, body, options = "--fail-with-body -w '\\n'" }: Call): string => {
    const verb = method === (body ? 'POST' : 'GET') ? '' : `-X ${method} `;
    const lines = [
      `curl -sS ${options} --retry 3 ${verb}"${base}${filled(path, '')}"`,
      AUTHORISED,
      ...(body ? bodyLines(body) : []),
    ];
    return lines.join(' \\\n  ');
  };

const captured = (variable: string, command: string, field: string): string =>
  `${variable}=$(${command} |\n  sed 's/.*"${field}":"\\([^"]*\\)".*/\\1/')`;

const QUIET = '-f';

const preparing = (curl: ReturnType<typeof ofBase>): Preparing => {
  const got = (variable: string, field: string, asked: Call): string =>
    captured(variable, curl({ ...asked, options: QUIET }), field);
  return {
    comment: '#',
    code: "CODE=OP-$(od -An -N6 -tx1 /dev/urandom | tr -d ' \\n')",
    assign: () => curl({ method: 'POST', path: '/loan', body: ASSIGNED }),
    untilActive: () =>
      `until ${curl({ method: 'GET', path: '/loan/{code}', options: '--fail-with-body' })} |\n` +
      `  grep -Eq '"status":"(active|rejected)"|"error_code"'; do sleep 1; done`,
    document: () => got('DOCUMENT_ID', 'document_id', { method: 'GET', path: '/loan/{code}' }),
    subscribe: () => got('WEBHOOK_ID', 'webhook_id', { method: 'POST', path: '/webhook', body: SUBSCRIBED }),
    ping: () => got('EVENT_ID', 'event_id', { method: 'POST', path: '/webhook/{webhook}/ping' }),
    redeliver: () =>
      got('REDELIVERY_ID', 'redelivery_id', {
        method: 'POST',
        path: '/webhook/{webhook}/redeliver',
        body: REDELIVERED,
      }),
    unsubscribe: () => curl({ method: 'DELETE', path: '/webhook/{webhook}' }),
  };
};

const requestOf = (plan: Plan, curl: ReturnType<typeof ofBase>): string => {
  const { method, path, body, answer, subscription } = plan;
  if (answer === 'file') return curl({ method, path, options: '-f -o stored.pdf' });
  if (subscription !== 'created') return curl({ method, path, body });
  const read = `printf '%s' "$ANSWER" | sed 's/.*"webhook_id":"\\([^"]*\\)".*/\\1/'`;
  return `ANSWER=$(${curl({ method, path, body })})\nprintf '%s\\n' "$ANSWER"\nWEBHOOK_ID=$(${read})`;
};

/** For any shell with curl 7.76 or later. */
export const shellSample = (plan: Plan, base: string): string => {
  const curl = ofBase(base);
  const says = preparing(curl);
  return [
    `# ${provided(plan)}`,
    ...preparations(plan, says),
    requestOf(plan, curl),
    ...tidying(plan, says),
  ].join('\n\n');
};

export const shellToken = (authUrl: string): string =>
  [
    '# In the environment: CLIENT_ID and CLIENT_SECRET.\n',
    `curl -sS --fail-with-body -w '\\n' --retry 3 "${authUrl}/token" \\`,
    '  -d grant_type=client_credentials \\',
    '  --data-urlencode "client_id=$CLIENT_ID" \\',
    '  --data-urlencode "client_secret=$CLIENT_SECRET"',
  ].join('\n');

export const shellPublic = (url: string): string => `curl -sS --fail-with-body "${url}"`;
