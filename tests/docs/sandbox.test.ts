import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { FUND } from '../support/application-parts.ts';
import { RunningService } from '../support/running-service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'sandbox.md'), 'utf8');
/** The page's own snippets, one after another, as a reader pastes them; of its commands, what moves the clock. */
const snippets = [...page.matchAll(/^```(?:bash|sh)\n([\s\S]*?)^```/gm)].map(([, code]) => code).join('\n');
const receivables = `receivables() { if [ "$1" = sandbox ]; then post /sandbox/clock "{\\"advance\\": \\"$4\\"}" >&2; fi; }`;

let service: RunningService;
const directory = temporaryDirectory();
beforeAll(async () => {
  service = await RunningService.start();
});
afterAll(() => service?.stop());

test('a late payer in two minutes, as the page has it', async () => {
  const { client_id, client_secret } = await service.createClient(FUND);
  const { stdout } = await promisify(execFile)(
    'bash',
    ['-euo', 'pipefail', '-c', `${receivables}\n${snippets}`],
    {
      cwd: directory,
      env: {
        PATH: process.env['PATH'],
        ...{ BASE: service.baseUrl, CLIENT_ID: client_id, CLIENT_SECRET: client_secret, FUND },
      },
      timeout: 100_000,
    },
  );
  const answers = stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));
  const [assigned, moved, late, payoff, quoted, settled] = answers;
  expect(assigned).toMatchObject({ originator_proposal_code: 'LATE-1', status: 'received' });
  expect(moved).toMatchObject({ offset_seconds: 14 * 86_400 });
  expect(late.installments.map(({ status }: { status: string }) => status)).toEqual(['overdue', 'pending']);
  expect(late.balances.payoff_date).toBe(settled.settled_at);
  expect(payoff).toMatchObject({ status: 'quoted', excess_value: 5_000 - late.balances.payoff_value });
  expect(quoted.lines[0]).toMatchObject({ installment_code: '001', late_days: 4 });
  expect(settled).toMatchObject({ installment_code: '001', status: 'settled' });
  expect(settled.processed_at > moved.now).toBe(true);
});
