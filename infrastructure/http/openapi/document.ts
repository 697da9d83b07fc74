import { EVENT_NAMES, EVENTS } from '../../../application/publication/catalogue.ts';
import type { EventName } from '../../../application/publication/catalogue.ts';
import { eventExample, eventSchemaName } from '../../../application/publication/description/event-schemas.ts';
import { ref } from '../../../application/schemas/schema.ts';
import type { Schema } from '../../../application/schemas/schema.ts';
import { API_VERSION } from './version.ts';
import { SCOPE_TABLE } from '../../../application/clients/scopes.ts';
import { ERRORS } from '../errors/error-table.ts';
import { operationsIn, schemasIn } from '../resources/endpoints.ts';
import { SANDBOX_TAG } from '../resources/sandbox.ts';
import { sandboxParameters } from '../resources/sandbox-outcome.ts';
import { ALWAYS, RATE_HEADERS, headerComponents } from './components/headers.ts';
import { parameterComponents } from './components/parameters.ts';
import { describe } from './operation.ts';
import type { Explained, OpenApiDocument, OperationSpec, PublicAddresses, Tag } from './operation.ts';
import { responseComponents } from './responses.ts';
import { codeSamples } from './samples/samples.ts';

const DESCRIPTION =
  'Check the signature over the bytes as they arrived, keep the event, answer 2xx, and only then work on it. ' +
  'Anything but a 2xx within ten seconds is tried again: eight attempts in about 42 hours. ' +
  'Within one operation events arrive in order; the same event may arrive more than once.';

const pascal = (event: string): string => eventSchemaName(event).replace(/Event$/, '');

const HEADERS = [
  ...['Event', 'EventId', 'Signature', 'SignatureV2', 'Timestamp', 'Attempt'],
  ...['StandardId', 'StandardTimestamp', 'StandardSignature'],
].map((name) => ({
  $ref: `#/components/parameters/Delivery${name}`,
}));

const receiving = (event: EventName): Schema => ({
  post: {
    operationId: `receive${pascal(event)}`,
    tags: ['Webhooks'],
    summary: EVENTS[event],
    description: DESCRIPTION,
    security: [],
    parameters: HEADERS,
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: ref(eventSchemaName(event)),
          example: eventExample(event, API_VERSION),
        },
      },
    },
    responses: {
      '2XX': {
        description:
          'Yours to send: the event is kept. The body decides nothing; its first 2 KiB are shown at `GET /webhook/event/{event_id}`.',
      },
      '4XX': { description: 'A failure, like every other answer: the event comes again.' },
      '5XX': { description: 'A failure: the event comes again.' },
    },
  },
});

const webhookSection: Readonly<Record<string, Schema>> = Object.fromEntries(
  EVENT_NAMES.map((event) => [event, receiving(event)]),
);

const errorTable = (): string =>
  [
    '| HTTP | `error_code` | Meaning | Send again? |\n|---|---|---|---|',
    ...Object.entries(ERRORS).map(
      ([code, { status, meaning, retryable }]) =>
        `| ${status} | \`${code}\` | ${meaning} | ${retryable ? 'yes' : ''} |`,
    ),
  ].join('\n');

const headerTable = (): string =>
  [
    '| Header | |\n|---|---|',
    ...Object.entries({ ...ALWAYS, ...RATE_HEADERS }).map(([name, reference]) => {
      const component =
        headerComponents[
          String((reference as Schema)['$ref'])
            .split('/')
            .at(-1) ?? ''
        ];
      return `| \`${name}\` | ${String(component?.['description'])} |`;
    }),
  ].join('\n');

const INTRODUCTION =
  'Assign credit operations to a receivables fund, report what borrowers pay, and follow each operation by signed webhooks.\n\n' +
  'Amounts are JSON numbers in Brazilian reais. Dates are days of the calendar, instants are UTC. ' +
  'Requests with an idempotency key can be repeated without a second effect; a repeated one carries `Idempotent-Replayed`. ' +
  'The key is a field of the body; a header `Idempotency-Key` is not read.\n\n' +
  'Checks happen in this order: path and method, size and format, token, rate limit, contents, idempotency key, ' +
  'operation, installment.\n\n' +
  'What is not a valid HTTP request, takes too long to arrive or has too large headers is answered 400, 408 or 431 ' +
  'with the body of every other refusal, and the connection is closed.\n\n' +
  `## Errors\n\nEvery refusal has the same body. Decide on \`error_code\`.\n\n${errorTable()}\n\n` +
  `## Headers of every response\n\nThe last three are missing where no rate limit counts.\n\n${headerTable()}`;

/** In the order of the page: what moves money first, the service about itself last. */
const TAGS: readonly Tag[] = [
  {
    name: 'Loans',
    description: 'Operations and their documents.',
    guide: ['lifecycle', 'The life of an operation'],
  },
  {
    name: 'Installments',
    description: 'Payments.',
    guide: ['integrators-guide#paid-too-little-paid-too-much', 'Paid too little, paid too much'],
  },
  {
    name: 'Webhooks',
    description: 'Subscriptions, deliveries, and the events that are sent.',
    guide: ['integrators-guide#webhooks', 'Webhooks and their signatures'],
  },
  {
    name: 'Authentication',
    description: 'Tokens for clients.',
    guide: ['integrators-guide#tokens', 'Tokens'],
  },
  {
    name: 'Service',
    description: 'This description, the guides, keys and health.',
    guide: ['going-live', 'Going live'],
  },
];
const describedTag = ({ guide: [place, title], ...tag }: Tag, { publicUrl }: PublicAddresses): Explained => ({
  ...tag,
  externalDocs: { url: `${publicUrl}/docs/guides/${place}`, description: title },
});
const TAG_GROUPS = [
  { name: 'Operations', tags: ['Loans', 'Installments'] },
  { name: 'Following them', tags: ['Webhooks'] },
  { name: 'Access and service', tags: ['Authentication', 'Service'] },
];

const pathsOf = (
  operations: readonly OperationSpec[],
  addresses: PublicAddresses,
): Record<string, Schema> => {
  const paths: Record<string, Record<string, Schema>> = {};
  for (const spec of operations) {
    const servers = spec.access === 'client_credentials' ? [{ url: addresses.authUrl }] : undefined;
    (paths[spec.path] ??= {})[spec.method] = {
      ...describe(spec, servers),
      'x-codeSamples': codeSamples(spec, addresses),
    };
  }
  return paths;
};

const SCOPE_MEANINGS = Object.fromEntries(
  Object.entries(SCOPE_TABLE).map(([scope, { meaning }]) => [scope, meaning]),
);

const BEARER =
  'A token of POST /token. Its scopes say what it allows: `loans:read` and `loans:write` for operations, `webhooks` for managing ' +
  'subscriptions, `events` for seeing and sending again what was sent about operations; `webhooks` covers `events`. A client that is ' +
  'limited to some funds of its application cannot have `webhooks`, and finds nothing that belongs to another fund.';

/** The interface description: what is published, what requests are checked against, and what routes exist. */
export const openApiDocument = (addresses: PublicAddresses): OpenApiDocument => {
  const { environment = 'sandbox' } = addresses;
  const sandbox = environment === 'sandbox';
  return {
    openapi: '3.1.0',
    info: {
      title: 'Receivables Fund Assignment and Settlement',
      version: API_VERSION,
      description: INTRODUCTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: addresses.publicUrl }],
    externalDocs: { url: `${addresses.publicUrl}/docs/guides`, description: 'Guides' },
    tags: (sandbox ? [...TAGS, SANDBOX_TAG] : TAGS).map((tag) => describedTag(tag, addresses)),
    'x-tagGroups': sandbox ? [...TAG_GROUPS, { name: 'Trying out', tags: [SANDBOX_TAG.name] }] : TAG_GROUPS,
    paths: pathsOf(operationsIn(environment), addresses),
    webhooks: webhookSection,
    components: {
      schemas: schemasIn(environment),
      parameters: { ...parameterComponents, ...(sandbox && sandboxParameters) },
      headers: headerComponents,
      responses: responseComponents,
      securitySchemes: {
        oauth2: {
          type: 'oauth2',
          description: 'The grant of client credentials at POST /token; the token goes where `bearer` says.',
          flows: {
            clientCredentials: { tokenUrl: `${addresses.authUrl}/token`, scopes: SCOPE_MEANINGS },
          },
        },
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: BEARER },
        basic: { type: 'http', scheme: 'basic', description: 'Client id and secret, at POST /token only.' },
      },
    },
  };
};
