import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { readAllowInsecure } from '../../infrastructure/composition/insecurities.ts';
import { EnvironmentReader } from '../../infrastructure/composition/environment-reader.ts';
import { OPERATIONS } from '../../infrastructure/http/resources/endpoints.ts';
import { sandboxParameters } from '../../infrastructure/http/resources/sandbox-outcome.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const page = readFileSync(join(root, 'docs/going-live.md'), 'utf8').replaceAll(/\s+/g, ' ');

/** Where the code asks which environment it is, or whether a request is checked as in production. */
const ASKS = new RegExp(
  [
    /\b(?:environment|kind) [!=]== '(?:sandbox|production)'/,
    /\[(?:\w+\.)?environment\]/,
    /\bisAllowed\((?:settings|configuration)/,
    /!strict\)|(?:\.|\b)strict \?/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
);

/** What the page says of each place, as often as the file asks; an empty text where nobody outside notices. */
const SAID: Readonly<Record<string, readonly string[]>> = {
  'application/loans/payments.ts': ['`settled_at` and `prepayment_date` may lie in the future'],
  'infrastructure/composition/app.ts': [''],
  'infrastructure/composition/configuration.ts': [
    '`HOST` is `0.0.0.0` by default',
    'checked as production would',
    '`MASTER_KEY` is missing',
    '`WEBHOOK_ALLOW_PRIVATE_NETWORK` or `SANDBOX_STRICT` is `true`',
  ],
  'infrastructure/composition/container.ts': ['No administrator is built in'],
  'infrastructure/composition/data-directory.ts': ['others can read `DATA_DIR`'],
  'infrastructure/composition/foundations.ts': ['may lose commits at a fail-over', 'time is real'],
  'infrastructure/composition/insecurities.ts': [
    '`ALLOW_INSECURE` names what is in brackets',
    '`PUBLIC_URL` or `AUTH_URL` is missing',
    'begins with `http://`',
    'is reached without TLS',
  ],
  'infrastructure/composition/maintenance/doctor.ts': ['others can read `DATA_DIR`', 'of `doctor`'],
  'infrastructure/composition/roles.ts': ['No administrator is built in'],
  'infrastructure/composition/run-service.ts': [
    'No client for trying out is printed',
    'a sandbox listens on its own machine alone',
  ],
  'infrastructure/composition/webhooks.ts': [
    'a private network',
    '`receivables listen`',
    'No `webhook.ping` comes by itself',
  ],
  'infrastructure/documents/file-document-inspector.ts': ['each is read as a PDF'],
  'infrastructure/http/openapi/document.ts': ["generated from the sandbox's description"],
  'infrastructure/http/routes.ts': ['a file has at most 10 MiB'],
  // The operations, which the next test looks at.
  'infrastructure/http/resources/endpoints.ts': [''],
  'infrastructure/http/requests/parameters.ts': ['', ''],
  'infrastructure/http/requests/request-rules.ts': ['tomorrow in São Paulo is the last day'],
  'infrastructure/http/resources/borrower.ts': ['its check digits have to be right'],
};

const asked = (): Record<string, number> =>
  Object.fromEntries(
    globSync('{application,domain,infrastructure,projections}/**/*.ts', { cwd: root })
      .map((path) => [path, readFileSync(join(root, path), 'utf8').match(ASKS)?.length ?? 0] as const)
      .filter(([, times]) => times > 0),
  );

describe('the page of going live', () => {
  test('has a word for each place of the code where the environment makes a difference', () => {
    expect(asked()).toEqual(
      Object.fromEntries(Object.entries(SAID).map(([path, texts]) => [path, texts.length])),
    );
    expect(
      Object.values(SAID)
        .flat()
        .filter((text) => !page.includes(text)),
    ).toEqual([]);
  });

  test('names every request and every header that only a sandbox has', () => {
    const requests = OPERATIONS.filter(({ sandboxOnly }) => sandboxOnly).map(
      ({ method, path }) => `${method.toUpperCase()} ${path}`,
    );
    const headers = Object.values(sandboxParameters).map(({ name }) => String(name));
    expect(requests.length * headers.length).toBeGreaterThan(0);
    expect([...requests, ...headers].filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });

  test('names everything that an operator may allow', () => {
    let refusal = '';
    try {
      readAllowInsecure(new EnvironmentReader({ ALLOW_INSECURE: 'everything' }));
    } catch (error) {
      refusal = String(error);
    }
    const names = refusal.slice(refusal.indexOf('list of ') + 8).split(', ');
    expect(names.length).toBeGreaterThan(5);
    expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
  });
});
