import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openApiDocument } from '../../infrastructure/http/openapi/document.ts';
import { FUND } from '../support/application-parts.ts';
import { smallPdf } from '../support/api-client.ts';
import { RunningService } from '../support/running-service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

type Json = ReturnType<typeof JSON.parse>;

const run = promisify(execFile);
const LIMIT_MS = 120_000;
/** How a reader runs what a sample says, by its language. */
const PROGRAMS: Readonly<Record<string, readonly [string, string, ...string[]]>> = {
  Shell: ['sample.sh', 'sh', '-eu'],
  JavaScript: ['sample.mjs', process.execPath],
  Python: ['sample.py', process.env['PYTHON'] ?? 'python3'],
};

/** Is there once the fund has paid; the sample of a read does not wait for that. */
const LATER = 'disbursement';

let service: RunningService;
const directory = temporaryDirectory();
let environment: Record<string, string>;

/** Samples are the same for every address: the test is named by those of one, and runs those that the service serves. */
const NOWHERE = { publicUrl: 'https://api.receivables.test', authUrl: 'https://api.receivables.test' };
const operationsOf = (document: Json): Json[] =>
  Object.values<Json>(document.paths).flatMap((item) => Object.values<Json>(item));
const samples = operationsOf(openApiDocument(NOWHERE)).flatMap(({ operationId, ...operation }) =>
  operation['x-codeSamples'].map(({ lang, label }: Json, index: number) => ({
    operationId,
    lang,
    label,
    index,
  })),
);

beforeAll(async () => {
  service = await RunningService.start();
  await writeFile(join(directory, 'ccb.pdf'), smallPdf());
  const { client_id, client_secret } = await service.createClient(FUND);
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret });
  const { access_token } = (await (
    await fetch(`${service.baseUrl}/token`, { method: 'POST', body })
  ).json()) as Json;
  environment = {
    PATH: process.env['PATH'] ?? '',
    ...{ CLIENT_ID: client_id, CLIENT_SECRET: client_secret, TOKEN: access_token, FUND_ID: FUND },
  };
});
afterAll(() => service?.stop());

const subscriptions = async (): Promise<unknown[]> => {
  const headers = { authorization: `Bearer ${environment['TOKEN']}` };
  return ((await (await fetch(`${service.baseUrl}/webhook`, { headers })).json()) as Json).data;
};

/** What the program prints. @throws Error with what it complained about */
const printedBy = async (lang: string, source: string): Promise<string> => {
  const [file, program, ...options] = PROGRAMS[lang]!;
  await writeFile(join(directory, file), source);
  const ran = await run(program, [...options, file], {
    cwd: directory,
    env: environment,
    timeout: LIMIT_MS,
    maxBuffer: 16_000_000,
  });
  return ran.stdout;
};

test('every operation that asks for a token or a secret has a sample in each language', () => {
  const asking = operationsOf(openApiDocument(NOWHERE)).filter(({ security }) => security.length > 0);
  expect(asking.length).toBeGreaterThan(20);
  for (const operation of asking) {
    const languages = new Set(operation['x-codeSamples'].map(({ lang }: Json) => lang));
    expect([operation.operationId, ...languages]).toEqual([operation.operationId, ...Object.keys(PROGRAMS)]);
  }
});

describe.each(samples)('$operationId, $label', ({ operationId, lang, index }) => {
  test('runs as printed, twice, and leaves no subscription behind', async () => {
    const operation = operationsOf((await service.description()).document).find(
      (one) => one.operationId === operationId,
    );
    const { source } = operation['x-codeSamples'][index];
    const printed = [await printedBy(lang, source), await printedBy(lang, source)];
    const [success] = Object.keys(operation.responses);
    const { example, examples } = operation.responses[success!].content?.['application/json'] ?? {};
    const answer = example ?? examples?.receipt?.value ?? {};
    for (const text of printed) {
      if (operation.security.length > 0) expect(text).not.toContain('error_code');
      for (const name of Object.keys(answer).filter((one) => one !== LATER)) expect(text).toContain(name);
    }
    expect(await subscriptions()).toEqual([]);
  });
});
