import { eventSchemas } from '../../../application/schemas/events.ts';
import type { Scope } from '../../../application/ports/clients.ts';
import { headerComponents } from './components/headers.ts';
import { loanRequestSchemas } from './components/loan-requests.ts';
import { loanResponseSchemas } from './components/loan-responses.ts';
import { metaSchemas } from './components/meta.ts';
import { parameterComponents } from './components/parameters.ts';
import { postAssignmentSchemas } from './components/post-assignment.ts';
import { renegotiationSchemas } from './components/renegotiation.ts';
import { valueSchemas } from '../../../application/schemas/values.ts';
import { webhookSchemas } from './components/webhooks.ts';
import { INTRODUCTION } from './introduction.ts';
import { describe } from './operation.ts';
import type { OperationSpec } from './operation.ts';
import { loanOperations } from './paths/loans.ts';
import { metaOperations } from './paths/meta.ts';
import { postAssignmentOperations } from './paths/post-assignment.ts';
import { renegotiationOperations } from './paths/renegotiation.ts';
import { SANDBOX_TAG, sandboxOperations, sandboxParameters, sandboxSchemas } from './paths/sandbox.ts';
import { tokenOperations } from './paths/token.ts';
import { webhookOperations } from './paths/webhooks.ts';
import { responseComponents } from './responses.ts';
import type { Schema } from '../../../application/schemas/schema.ts';
import { settleInstallment, settlementSchemas } from '../resources/settle-installment.ts';
import { API_VERSION } from './version.ts';
import { webhookSection } from './webhook-section.ts';

/** Everything that the service can be asked for. */
export const OPERATIONS: readonly OperationSpec[] = [
  ...tokenOperations,
  ...loanOperations,
  settleInstallment,
  ...postAssignmentOperations,
  ...renegotiationOperations,
  ...webhookOperations,
  ...sandboxOperations,
  ...metaOperations,
];

export type Environment = 'sandbox' | 'production';

/** What can be asked for in this environment. */
export const operationsIn = (environment: Environment): readonly OperationSpec[] =>
  environment === 'production'
    ? OPERATIONS.filter(({ sandboxOnly }) => !sandboxOnly)
    : OPERATIONS.map(({ parameters = [], sandboxParameters: more = [], ...spec }) => ({
        ...spec,
        ...(parameters.length + more.length > 0 && { parameters: [...parameters, ...more] }),
      }));

export interface PublicAddresses {
  /** Base address of the interface, as clients see it. */
  readonly publicUrl: string;
  /** Base address of the token endpoint. */
  readonly authUrl: string;
  /** Default: the sandbox, which has all that production has. */
  readonly environment?: Environment;
}

export interface OpenApiDocument extends Schema {
  readonly openapi: '3.1.0';
  readonly info: { readonly version: string; readonly [field: string]: unknown };
  readonly paths: Readonly<Record<string, Schema>>;
  readonly components: { readonly [section: string]: Readonly<Record<string, Schema>> };
}

/** In the order of the page: what moves money first, the service about itself last. */
const TAGS = [
  { name: 'Loans', description: 'Operations and their documents.' },
  { name: 'Installments', description: 'Payments.' },
  { name: 'Webhooks', description: 'Subscriptions, deliveries, and the events that are sent.' },
  { name: 'Authentication', description: 'Tokens for clients.' },
  { name: 'Service', description: 'This description, keys and health.' },
];
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
    (paths[spec.path] ??= {})[spec.method] = describe(spec, servers);
  }
  return paths;
};

const SCOPE_DESCRIPTIONS: Readonly<Record<Scope, string>> = {
  'loans:write': 'Assign operations and change them.',
  'loans:read': 'Read operations.',
  webhooks: 'Manage subscriptions; covers `events`.',
  events: 'See what was sent about operations, and have it sent again.',
};

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
    tags: sandbox ? [...TAGS, SANDBOX_TAG] : TAGS,
    'x-tagGroups': sandbox ? [...TAG_GROUPS, { name: 'Trying out', tags: [SANDBOX_TAG.name] }] : TAG_GROUPS,
    paths: pathsOf(operationsIn(environment), addresses),
    webhooks: webhookSection,
    components: {
      schemas: {
        ...valueSchemas,
        ...loanRequestSchemas,
        ...loanResponseSchemas,
        ...settlementSchemas,
        ...postAssignmentSchemas,
        ...renegotiationSchemas,
        ...webhookSchemas,
        ...(sandbox && sandboxSchemas),
        ...eventSchemas,
        ...metaSchemas,
      },
      parameters: { ...parameterComponents, ...(sandbox && sandboxParameters) },
      headers: headerComponents,
      responses: responseComponents,
      securitySchemes: {
        oauth2: {
          type: 'oauth2',
          description: 'The grant of client credentials at POST /token; the token goes where `bearer` says.',
          flows: {
            clientCredentials: { tokenUrl: `${addresses.authUrl}/token`, scopes: SCOPE_DESCRIPTIONS },
          },
        },
        bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: BEARER },
        basic: { type: 'http', scheme: 'basic', description: 'Client id and secret, at POST /token only.' },
      },
    },
  };
};
