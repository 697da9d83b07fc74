import { eventSchemas } from '../../../application/schemas/events.ts';
import { headerComponents } from './components/headers.ts';
import { installmentSchemas } from './components/installments.ts';
import { loanRequestSchemas } from './components/loan-requests.ts';
import { loanResponseSchemas } from './components/loan-responses.ts';
import { metaSchemas } from './components/meta.ts';
import { parameterComponents } from './components/parameters.ts';
import { postAssignmentSchemas } from './components/post-assignment.ts';
import { renegotiationSchemas } from './components/renegotiation.ts';
import { valueSchemas } from '../../../application/schemas/values.ts';
import { webhookSchemas } from './components/webhooks.ts';
import { describe } from './operation.ts';
import type { OperationSpec } from './operation.ts';
import { installmentOperations } from './paths/installments.ts';
import { loanOperations } from './paths/loans.ts';
import { metaOperations } from './paths/meta.ts';
import { postAssignmentOperations } from './paths/post-assignment.ts';
import { renegotiationOperations } from './paths/renegotiation.ts';
import { tokenOperations } from './paths/token.ts';
import { webhookOperations } from './paths/webhooks.ts';
import { responseComponents } from './responses.ts';
import type { Schema } from '../../../application/schemas/schema.ts';
import { API_VERSION } from './version.ts';
import { webhookSection } from './webhook-section.ts';

/** Everything that the service can be asked for. */
export const OPERATIONS: readonly OperationSpec[] = [
  ...tokenOperations,
  ...loanOperations,
  ...installmentOperations,
  ...postAssignmentOperations,
  ...renegotiationOperations,
  ...webhookOperations,
  ...metaOperations,
];

export interface PublicAddresses {
  /** Base address of the interface, as clients see it. */
  readonly publicUrl: string;
  /** Base address of the token endpoint. */
  readonly authUrl: string;
}

export interface OpenApiDocument extends Schema {
  readonly openapi: '3.1.0';
  readonly info: { readonly version: string; readonly [field: string]: unknown };
  readonly paths: Readonly<Record<string, Schema>>;
  readonly components: { readonly [section: string]: Readonly<Record<string, Schema>> };
}

const INTRODUCTION =
  'Assign credit operations to a receivables fund, report what borrowers pay, and follow each operation by signed webhooks.\n\n' +
  'Amounts are JSON numbers in Brazilian reais. Dates are days of the calendar, instants are UTC. ' +
  'Requests with an idempotency key can be repeated without a second effect; a repeated one carries `Idempotent-Replayed`.\n\n' +
  'Checks happen in this order: path and method, size and format, token, rate limit, contents, idempotency key, ' +
  'operation, installment.\n\n' +
  'What is not a valid HTTP request, takes too long to arrive or has too large headers is answered 400, 408 or 431 ' +
  'with the body of every other refusal, and the connection is closed.';

const TAGS = [
  { name: 'Authentication', description: 'Tokens for clients.' },
  { name: 'Loans', description: 'Operations and their documents.' },
  { name: 'Installments', description: 'Payments.' },
  { name: 'Webhooks', description: 'Subscriptions, deliveries, and the events that are sent.' },
  { name: 'Service', description: 'This description, keys and health.' },
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

const BEARER =
  'A token of POST /token. Its scopes say what it allows: `loans:read` and `loans:write` for operations, `webhooks` for managing ' +
  'subscriptions, `events` for seeing and sending again what was sent about operations; `webhooks` covers `events`. A client that is ' +
  'limited to some funds of its application cannot have `webhooks`, and finds nothing that belongs to another fund.';

/** The interface description: what is published, what requests are checked against, and what routes exist. */
export const openApiDocument = (addresses: PublicAddresses): OpenApiDocument => ({
  openapi: '3.1.0',
  info: {
    title: 'Receivables Fund Assignment and Settlement',
    version: API_VERSION,
    description: INTRODUCTION,
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  servers: [{ url: addresses.publicUrl }],
  tags: TAGS,
  paths: pathsOf(OPERATIONS, addresses),
  webhooks: webhookSection,
  components: {
    schemas: {
      ...valueSchemas,
      ...loanRequestSchemas,
      ...loanResponseSchemas,
      ...installmentSchemas,
      ...postAssignmentSchemas,
      ...renegotiationSchemas,
      ...webhookSchemas,
      ...eventSchemas,
      ...metaSchemas,
    },
    parameters: parameterComponents,
    headers: headerComponents,
    responses: responseComponents,
    securitySchemes: {
      bearer: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: BEARER },
      basic: { type: 'http', scheme: 'basic', description: 'Client id and secret, at POST /token only.' },
    },
  },
});
