import { randomUUID } from 'node:crypto';
import type { Clients } from '../../application/clients/clients.ts';
import type { Configuration } from './configuration.ts';
import type { Parts } from './parts.ts';

type CreatedClient = Awaited<ReturnType<Clients['create']>>;

/** A first call that can be pasted as it is: it asks for a token and assigns an operation with a small PDF made on the spot. */
const firstCall = (
  { publicUrl, authUrl }: Configuration,
  { clientId, clientSecret, fundIds }: CreatedClient,
): string => `
  TOKEN=$(curl -s ${authUrl}/token -d grant_type=client_credentials -d client_id=${clientId} -d client_secret=${clientSecret} | sed 's/.*"access_token":"\\([^"]*\\).*/\\1/')
  printf '%%PDF-1.4\\n%%%%EOF\\n' > ccb.pdf
  curl -s ${publicUrl}/loan -H "Authorization: Bearer $TOKEN" -F 'files=@ccb.pdf;type=application/pdf' -F 'loan_data={"fund_id":"${fundIds[0]}","originator_proposal_code":"FIRST-1","product_type":"financing","acquisition_value":900.00,"number_of_installments":1,"date_issued":"2026-01-15","borrower":{"document_number":"52998224725","document_type":"CPF","name":"Ana Souza","birth_date":"1990-05-20","address":{"zip_code":"01310100","street":"Avenida Paulista","number":"1000","city":"Sao Paulo","state":"SP"}},"installments":[{"code":"001","due_date":"2027-01-15","face_value":1000.00}],"backing_documents":[{"type":"ccb","value":"ccb.pdf"}]}'
  curl -s ${publicUrl}/loan/FIRST-1 -H "Authorization: Bearer $TOKEN"
`;

const TAKES_AT_MOST_MS = 10_000;

/** Of several processes that start at once on one store, only one makes the client. */
const createOnce = async ({ leases, app }: Parts): Promise<CreatedClient | undefined> => {
  const { clients } = app;
  if ((await clients.list()).length > 0) return undefined;
  const lease = await leases.acquire('demo client', randomUUID(), TAKES_AT_MOST_MS);
  if (!lease) return undefined;
  try {
    if ((await clients.list()).length > 0) return undefined;
    return await clients.create({ name: 'demo', fundIds: [randomUUID()] });
  } finally {
    await leases.release(lease);
  }
};

/** The first start of an empty sandbox makes a client for trying out and prints how. Never in production. */
export const announceDemoClient = async (parts: Parts): Promise<void> => {
  const { configuration } = parts;
  if (configuration.environment !== 'sandbox' || !configuration.roles.includes('api')) return;
  const client = await createOnce(parts);
  if (!client) return;
  const { clientId, clientSecret, fundIds } = client;
  const text =
    `\nA client to try this sandbox with (shown once):\n  client_id      ${clientId}\n  client_secret  ${clientSecret}\n` +
    `  fund_id        ${fundIds[0]}\n\nThe reference: ${configuration.publicUrl}/docs\n\nA first call:\n${firstCall(configuration, client)}\n`;
  // Where nobody can read it the service serves all the same.
  process.stdout.once('error', () => undefined).write(text);
};
