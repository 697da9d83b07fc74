import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { LoanCode } from '../../domain/shared/identifiers.ts';
import { OPERATIONS } from '../../infrastructure/http/resources/endpoints.ts';
import type { OperationSpec } from '../../infrastructure/http/openapi/operation.ts';
import { ApiClient, multipart, smallPdf } from '../support/api-client.ts';
import type { ClientCredentials } from '../support/api-client.ts';
import type { ServedDescription } from '../support/http-description.ts';
import { RunningService } from '../support/running-service.ts';

type Json = ReturnType<typeof JSON.parse>;

let running: RunningService;
let description: ServedDescription;
let document: Json;
beforeAll(async () => {
  running = await RunningService.start({ WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true' });
  description = await running.description();
  ({ document } = description);
});
afterAll(() => running.stop());

interface Party {
  readonly api: ApiClient;
  readonly credentials: ClientCredentials;
}

const loanExample = (): Json =>
  document.paths['/loan'].post.requestBody.content['multipart/form-data'].example.loan_data;

/** Every example runs in an application of its own, whose fund is the one of the examples. */
const newParty = async (): Promise<Party> => {
  const credentials = await running.createClient(loanExample().fund_id);
  return { credentials, api: new ApiClient(running.baseUrl, credentials) };
};

const assignActive = async ({ api }: Party, code: string): Promise<void> => {
  const answer = await api.assign({ ...loanExample(), originator_proposal_code: code });
  expect(answer.status).toBe(201);
  await api.untilStatus(code, 'active');
};

/** Replaces an operation, so that it may get the signature of the document that did it. */
const renegotiate = async ({ api, credentials }: Party, code: string): Promise<void> => {
  const { client_id: clientId, application_id: applicationId, fund_ids: fundIds } = credentials;
  await running.service.parts.renegotiation.renegotiate(
    { requestId: 'test', clientId, applicationId, fundIds },
    {
      originalProposalCodes: [code as LoanCode],
      newProposalCode: `${code}-R` as LoanCode,
      acquisitionValue: 180_000 as never,
      installments: [{ code: '001', dueDate: '2027-06-15', faceValue: 200_000 }] as never,
      effectiveDate: '2026-06-15' as CalendarDate,
      files: [],
    },
  );
  await api.untilStatus(code, 'renegotiated');
};

const codesIn = (body: Json): string[] => [
  ...[body?.originator_proposal_code, body?.original_proposal_code].filter((code) => code !== undefined),
  ...(body?.original_proposal_codes ?? []),
];

const filesOf = (data: Json): { name: string; content: Uint8Array }[] =>
  (data.backing_documents ?? data.documents ?? data.new_loan?.backing_documents ?? []).map(
    ({ value }: Json) => ({ name: value, content: smallPdf() }),
  );

const subscribed = async ({ path }: OperationSpec, api: Party['api']): Promise<Record<string, string>> => {
  const example = document.paths['/webhook'].post.requestBody.content['application/json'].example;
  const { webhook_id } = (await api.call('POST', '/webhook', example)).body;
  const ids: Record<string, string> = { webhook_id };
  if (path.includes('{event_id}')) {
    const { body: page } = await api.call('GET', `/webhook/${webhook_id}/deliveries`);
    ids['event_id'] = page.data[0].event_id;
  }
  if (path.includes('{redelivery_id}')) {
    const span = { since: '2026-01-15T12:00:00Z' };
    const { body: begun } = await api.call('POST', `/webhook/${webhook_id}/redeliver`, span);
    ids['redelivery_id'] = begun.redelivery_id;
  }
  return ids;
};

/** What has to be there before an example can succeed. */
const prepare = async (spec: OperationSpec, party: Party, body: Json): Promise<Record<string, string>> => {
  const { api } = party;
  const inPath: Record<string, string> = {
    version: document.info.version,
    guide: 'integrators-guide',
  };
  if (spec.path.includes('{originator_proposal_code}')) {
    inPath['originator_proposal_code'] = loanExample().originator_proposal_code;
    await assignActive(party, loanExample().originator_proposal_code);
  }
  if (spec.path.includes('{document_id}')) {
    const { body: loan } = await api.loan(loanExample().originator_proposal_code);
    inPath['document_id'] = loan.documents[0].document_id;
  }
  if (spec.path.includes('{asset}')) {
    const page = await (await fetch(`${running.baseUrl}/docs`)).text();
    inPath['asset'] = /src="docs\/([^"]+)"/.exec(page)?.[1] ?? '';
  }
  if (spec.path.includes('webhook') && spec.id !== 'createWebhook')
    Object.assign(inPath, await subscribed(spec, api));
  if (body !== undefined && spec.id !== 'assignLoan') {
    for (const code of codesIn(body)) await assignActive(party, code);
    if (body.documents?.some(({ type }: Json) => type === 'renegotiation_signature')) {
      await renegotiate(party, body.originator_proposal_code);
    }
  }
  return inPath;
};

/** The value that the description of an optional parameter names. */
const suchAs = ({ description }: Json): string => {
  const [, value] = /Such as `([^`]+)`\./.exec(description) ?? [];
  if (value === undefined) throw new Error(`no value in: ${description}`);
  return value;
};

const queryOf = (definition: Json): string => {
  const parameters = (definition.parameters ?? []).map(
    ({ $ref }: Json) => document.components.parameters[$ref.split('/').pop()],
  );
  // A cursor is only good for the list that gave it, and an event for its application; those are followed in other tests.
  const query = parameters.filter(
    (one: Json) => one.in === 'query' && one.name !== 'cursor' && one.name !== 'after',
  );
  return query.length === 0
    ? ''
    : `?${new URLSearchParams(query.map((one: Json) => [one.name, suchAs(one)])).toString()}`;
};

interface Sent {
  readonly headers: Record<string, string>;
  readonly body?: string | FormData | URLSearchParams;
}

const encoded = (mediaType: string | undefined, example: Json, { credentials }: Party): Sent => {
  if (mediaType === undefined) return { headers: {} };
  if (mediaType === 'application/json') {
    return { headers: { 'content-type': mediaType }, body: JSON.stringify(example) };
  }
  if (mediaType === 'application/x-www-form-urlencoded') {
    const { client_id, client_secret } = credentials;
    return { headers: {}, body: new URLSearchParams({ ...example, client_id, client_secret }) };
  }
  const [part] = Object.keys(example).filter((name) => name !== 'files');
  return { headers: {}, body: multipart(part!, example[part!], filesOf(example[part!])) };
};

const cases = OPERATIONS.flatMap((spec) =>
  (spec.body ?? [undefined]).map(
    (content) => [`${spec.id}${content ? ` as ${content.mediaType}` : ''}`, spec, content] as const,
  ),
);

describe('the examples of the description, sent to the service', () => {
  test.each(cases)('%s succeeds and answers as described', async (_name, spec, content) => {
    const definition = document.paths[spec.path][spec.method];
    const example = content && definition.requestBody.content[content.mediaType].example;
    const body = content?.dataPart === undefined ? example : example[content.dataPart];
    const party = await newParty();
    const inPath = await prepare(spec, party, body);
    const path = spec.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => inPath[name] ?? '');
    const { headers, body: payload } = encoded(content?.mediaType, example, party);
    if (spec.access !== 'public') headers['authorization'] = `Bearer ${await party.api.token()}`;
    if (spec.access === 'client_credentials') delete headers['authorization'];
    const response = await fetch(running.baseUrl + path + queryOf(definition), {
      method: spec.method.toUpperCase(),
      headers,
      ...(payload !== undefined && { body: payload }),
    });
    const text = await response.text();
    expect([response.status, text]).toEqual([spec.success[0]!.status, expect.anything()]);
    expect(
      description.discrepancies({
        method: spec.method.toUpperCase(),
        path,
        status: response.status,
        headers: response.headers,
        text,
      }),
    ).toEqual([]);
  });
});
