import { ASSIGNED, FILE, REDELIVERED, SUBSCRIBED, literal, preparations, provided, tidying } from './plan.ts';
import type { Notation, Plan, Preparing, SampleBody, Variable } from './plan.ts';

const NAMES: Readonly<Record<Variable, string>> = {
  code: 'code',
  fund: 'process.env.FUND_ID',
  document: 'document_id',
  webhook: 'webhook_id',
  event: 'event_id',
  redelivery: 'redelivery_id',
};

const quoted = (text: string): string => {
  const [, whole] = /^\{(\w+)\}$/.exec(text) ?? [];
  if (whole !== undefined) return NAMES[whole as Variable];
  if (!text.includes('{')) return `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`;
  return `\`${text.replaceAll(/\{(\w+)\}/g, (_, name: Variable) => `\${${NAMES[name]}}`)}\``;
};

const JAVASCRIPT: Notation = {
  key: (name) => `${name}: `,
  text: quoted,
  trailingComma: true,
  indent: '  ',
  padding: ' ',
};

const sendsJson = ({ subscription, body }: Plan): boolean =>
  subscription !== 'none' || (body !== undefined && body.form === undefined);

const imports = (plan: Plan): string =>
  [
    ...(plan.usesFile ? ["import { openAsBlob } from 'node:fs';"] : []),
    ...(plan.answer === 'file' ? ["import { writeFile } from 'node:fs/promises';"] : []),
    "import { setTimeout } from 'node:timers/promises';",
  ].join('\n');

const sending = (plan: Plan, base: string): string => {
  const [forms, jsons] = [plan.usesFile, sendsJson(plan)];
  const type = "'Content-Type': 'application/json'";
  const headers = {
    form: '',
    json: `, ...(body && { ${type} })`,
    both: `, ...(json && { ${type} })`,
    none: '',
  };
  const bodies = {
    form: 'body',
    json: 'body: JSON.stringify(body)',
    both: 'body: json ? JSON.stringify(body) : body',
    none: '',
  };
  const kind = forms && jsons ? 'both' : forms ? 'form' : jsons ? 'json' : 'none';
  return [
    `const send = async (method, path${kind === 'none' ? '' : ', body'}) => {`,
    ...(kind === 'both' ? ['  const json = body && !(body instanceof FormData);'] : []),
    `  const response = await fetch(\`${base}\${path}\`, {`,
    '    method,',
    `    headers: { Authorization: \`Bearer \${process.env.TOKEN}\`${headers[kind]} },`,
    ...(kind === 'none' ? [] : [`    ${bodies[kind]},`]),
    '  });',
    '  if (response.status === 429) {',
    "    await setTimeout(1000 * response.headers.get('Retry-After'));",
    `    return send(method, path${kind === 'none' ? '' : ', body'});`,
    '  }',
    '  if (!response.ok) throw new Error(await response.text());',
    '  return Buffer.from(await response.arrayBuffer());',
    '};',
    ...(plan.operation !== 'none' || plan.subscription !== 'none' || plan.answer === 'json'
      ? ['const read = (bytes) => JSON.parse(bytes);']
      : []),
  ].join('\n');
};

const uploading = ({ value, form }: SampleBody, name: string): string => {
  const text = `JSON.stringify(${literal(value, JAVASCRIPT)})`;
  return [
    `const ${name} = new FormData();`,
    `${name}.set('${form?.part}', ${text});`,
    `${name}.append('files', await openAsBlob('${FILE}'), '${form?.fileName}');`,
  ].join('\n');
};

const call = (method: string, path: string, body?: string): string =>
  `await send('${method}', ${quoted(path)}${body === undefined ? '' : `, ${body}`})`;

const PREPARING: Preparing = {
  comment: '//',
  code: 'const code = `OP-${crypto.randomUUID()}`;',
  assign: () => `${uploading(ASSIGNED, 'loan')}\n${call('POST', '/loan', 'loan')};`,
  untilActive: () =>
    `while (!['active', 'rejected'].includes(read(${call('GET', '/loan/{code}')}).status)) await setTimeout(1000);`,
  document: () => `const [{ document_id }] = read(${call('GET', '/loan/{code}')}).documents;`,
  subscribe: () =>
    `const { webhook_id } = read(\n  ${call('POST', '/webhook', literal(SUBSCRIBED.value, JAVASCRIPT))},\n);`,
  ping: () => `const { event_id } = read(${call('POST', '/webhook/{webhook}/ping')});`,
  redeliver: () =>
    'const { redelivery_id } = read(\n  ' +
    `${call('POST', '/webhook/{webhook}/redeliver', literal(REDELIVERED.value, JAVASCRIPT))},\n);`,
  unsubscribe: () => `${call('DELETE', '/webhook/{webhook}')};`,
};

const requestOf = ({ method, path, body, answer, subscription }: Plan): string => {
  const form = body?.form && uploading(body, 'form');
  const sent = body && (form ? 'form' : literal(body.value, JAVASCRIPT));
  const before = form ? `${form}\n` : '';
  if (answer === 'nothing') return `${before}${call(method, path, sent)};`;
  if (answer === 'file') return `await writeFile('stored.pdf', ${call(method, path)});`;
  const shown = `const answer = read(${call(method, path, sent)});\nconsole.dir(answer, { depth: null });`;
  return `${before}${shown}${subscription === 'created' ? '\nconst { webhook_id } = answer;' : ''}`;
};

export const javascriptSample = (plan: Plan, base: string): string =>
  [
    `// Node.js 24, nothing to install. ${provided(plan)}\n${imports(plan)}`,
    sending(plan, base),
    ...preparations(plan, PREPARING),
    requestOf(plan),
    ...tidying(plan, PREPARING),
  ].join('\n\n');

export const javascriptToken = (authUrl: string): string =>
  `// Node.js 24, nothing to install. In the environment: CLIENT_ID and CLIENT_SECRET.
const { CLIENT_ID, CLIENT_SECRET } = process.env;

const response = await fetch('${authUrl}/token', {
  method: 'POST',
  body: new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: CLIENT_ID,
    client_secret: CLIENT_SECRET,
  }),
});
if (!response.ok) throw new Error(await response.text());
console.log(await response.json());`;

export const javascriptPublic = (url: string): string =>
  `const response = await fetch('${url}');\nconsole.log(await response.text());`;
