import { exampleLoanData } from '../../resources/assign-loan.ts';
import { EXAMPLE } from '../../../../application/schemas/example-values.ts';
import { exampleRangeRequest } from '../../resources/operate-webhooks.ts';
import { Webhook } from '../../resources/subscriptions.ts';
import type { BodyContent, OperationSpec } from '../operation.ts';
import { API_VERSION } from '../version.ts';

/** What stands for a value that each run makes or finds: `{code}` in texts and paths. */
export type Variable = 'code' | 'fund' | 'document' | 'webhook' | 'event' | 'redelivery';

export interface SampleBody {
  readonly value: object;
  /** A form: the part with the data, and the name under which ccb.pdf is sent. */
  readonly form?: { readonly part: string; readonly fileName: string };
}

const PLACEHOLDERS = [
  [EXAMPLE.code, '{code}'],
  [EXAMPLE.fundId, '{fund}'],
] as const;

const withVariables = (example: object): object => {
  const text = PLACEHOLDERS.reduce(
    (json, [value, name]) => json.replaceAll(value, name),
    JSON.stringify(example),
  );
  return JSON.parse(text) as object;
};

/** The file is ccb.pdf whatever name it is sent under. */
export const FILE = 'ccb.pdf';

/** Nothing that may be left out: the operation is only what the request is about. */
const { email: _email, phone: _phone, address, ...borrower } = exampleLoanData.borrower;
const { neighborhood: _neighborhood, ...whereabouts } = address;

export const ASSIGNED: SampleBody = {
  value: withVariables({ ...exampleLoanData, borrower: { ...borrower, address: whereabouts } }),
  form: { part: 'loan_data', fileName: FILE },
};

export const SUBSCRIBED: SampleBody = {
  value: { url: Webhook.example['url'], events: Webhook.example['events'] },
};

export const REDELIVERED: SampleBody = { value: exampleRangeRequest };

const PATH_VARIABLES = {
  originator_proposal_code: '{code}',
  document_id: '{document}',
  webhook_id: '{webhook}',
  event_id: '{event}',
  redelivery_id: '{redelivery}',
  version: API_VERSION,
  guide: 'integrators-guide',
} as const;

const documentOf = (data: object): string => /"value":"([^"]+)"/.exec(JSON.stringify(data))?.[1] ?? FILE;

const bodyOf = ({ example, sample = example, dataPart }: BodyContent): SampleBody => ({
  value: withVariables(sample),
  ...(dataPart !== undefined && { form: { part: dataPart, fileName: documentOf(sample) } }),
});

const operationOf = (spec: OperationSpec, code: boolean): 'none' | 'received' | 'active' => {
  if (!code || spec.id === 'assignLoan') return 'none';
  return spec.method === 'get' ? 'received' : 'active';
};

const subscriptionOf = (spec: OperationSpec, path: string): 'none' | 'before' | 'created' => {
  if (spec.id === 'createWebhook') return 'created';
  return /\{(webhook|event)\}/.test(path) ? 'before' : 'none';
};

const answerOf = ({ success: [first] }: OperationSpec): 'json' | 'file' | 'nothing' => {
  if (first?.mediaType === undefined) return 'nothing';
  return first.mediaType === 'application/json' ? 'json' : 'file';
};

/**
 * A sample in no language: what it needs, the request, and whether it ends by tidying up.
 * @param content one of the operation's bodies, undefined where it has none
 */
export const planOf = (spec: OperationSpec, content: BodyContent | undefined) => {
  const path = spec.path.replaceAll(
    /\{(\w+)\}/g,
    (_, name: keyof typeof PATH_VARIABLES) => PATH_VARIABLES[name],
  );
  const body = content && bodyOf(content);
  const written = path + JSON.stringify(body?.value ?? '');
  const code = written.includes('{code}');
  const operation = operationOf(spec, code);
  const subscription = subscriptionOf(spec, path);
  return {
    method: spec.method.toUpperCase(),
    path,
    ...(body && { body }),
    code,
    operation,
    document: path.includes('{document}'),
    subscription,
    event: path.includes('{event}'),
    redelivery: path.includes('{redelivery}'),
    unsubscribes: subscription !== 'none' && spec.id !== 'deleteWebhook',
    answer: answerOf(spec),
    usesFund: operation !== 'none' || written.includes('{fund}'),
    usesFile: operation !== 'none' || body?.form !== undefined,
  };
};

export type Plan = ReturnType<typeof planOf>;

export const provided = ({ usesFund, usesFile }: Plan): string =>
  `In the environment: TOKEN${usesFund ? ' and FUND_ID' : ''}.${usesFile ? ` In this folder: ${FILE}.` : ''}`;

export interface Preparing {
  readonly comment: '#' | '//';
  readonly code: string;
  readonly assign: () => string;
  readonly untilActive: () => string;
  readonly document: () => string;
  readonly subscribe: () => string;
  readonly ping: () => string;
  readonly redeliver: () => string;
  readonly unsubscribe: () => string;
}

export const preparations = (plan: Plan, { comment, ...says }: Preparing): readonly string[] => [
  ...(plan.code ? [says.code] : []),
  ...(plan.operation === 'none' ? [] : [`${comment} An operation of its own\n${says.assign()}`]),
  ...(plan.operation === 'active'
    ? [`${comment} In the sandbox it is active some seconds later\n${says.untilActive()}`]
    : []),
  ...(plan.document ? [says.document()] : []),
  ...(plan.subscription === 'before' ? [`${comment} A subscription of its own\n${says.subscribe()}`] : []),
  ...(plan.event ? [says.ping()] : []),
  ...(plan.redelivery ? [says.redeliver()] : []),
];

export const tidying = ({ unsubscribes }: Plan, { comment, unsubscribe }: Preparing): readonly string[] =>
  unsubscribes ? [`${comment} The subscription was for this sample alone\n${unsubscribe()}`] : [];

/** How a language writes the parts of a value. `text` gets a string that may hold placeholders, such as `{code}-001`. */
export interface Notation {
  readonly key: (name: string) => string;
  readonly text: (text: string) => string;
  readonly trailingComma: boolean;
  readonly indent: string;
  /** Spaces between a brace and what it holds on one line. */
  readonly padding: string;
}

/** A line of a sample fits beside the text of the page. */
const WIDTH = 110;

const entriesOf = (value: object, notation: Notation): readonly (readonly [string, unknown])[] =>
  Array.isArray(value)
    ? value.map((entry: unknown) => ['', entry] as const)
    : Object.entries(value).map(([name, entry]) => [notation.key(name), entry] as const);

const onOneLine = (value: unknown, notation: Notation): string => {
  if (typeof value === 'string') return notation.text(value);
  if (typeof value !== 'object' || value === null) return String(value);
  const inner = entriesOf(value, notation).map(([key, entry]) => key + onOneLine(entry, notation));
  const { padding } = notation;
  return Array.isArray(value) ? `[${inner.join(', ')}]` : `{${padding}${inner.join(', ')}${padding}}`;
};

/** A value as a literal; what stands on its first line before it takes `used` characters. */
export const literal = (value: unknown, notation: Notation, indent = '', used = 0): string => {
  const short = onOneLine(value, notation);
  if (typeof value !== 'object' || value === null || indent.length + used + short.length < WIDTH)
    return short;
  const inner = indent + notation.indent;
  const lines = entriesOf(value, notation).map(
    ([key, entry]) => `${inner}${key}${literal(entry, notation, inner, key.length)}`,
  );
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  return `${open}\n${lines.join(',\n')}${notation.trailingComma ? ',' : ''}\n${indent}${close}`;
};
