import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { sendKept } from '../fixtures/data-directories/recording-client.ts';
import { ApiClient } from '../support/api-client.ts';
import { commandLineBeside } from '../support/command-line-beside.ts';
import type { CommandResult } from '../support/command-line.ts';
import { KeptDataDirectory } from '../support/kept-data-directory.ts';
import type { Json, RecordedApplication } from '../support/kept-data-directory.ts';
import { RunningService } from '../support/running-service.ts';

let kept: KeptDataDirectory;
let service: RunningService;
let before: ReadonlySet<string>;
let applications: readonly { readonly api: ApiClient; readonly recorded: RecordedApplication }[];

beforeAll(async () => {
  kept = await KeptDataDirectory.unpack('2026.11.1');
  before = schemaSteps();
  service = await RunningService.start(kept.environment);
  applications = kept.recorded.applications.map((recorded) => ({
    api: new ApiClient(service.baseUrl, recorded.credentials),
    recorded,
  }));
});
afterAll(() => service?.stop());

const receivables = async (...args: readonly string[]): Promise<CommandResult> => {
  const result = await commandLineBeside(kept.environment)(...args);
  expect(result.code).toBe(0);
  return result;
};

const schemaSteps = (): ReadonlySet<string> => {
  const database = new DatabaseSync(join(kept.dataDir, 'service.db'), { readOnly: true });
  try {
    return new Set(
      database
        .prepare('select id from schema_migration')
        .all()
        .map(({ id }) => String(id)),
    );
  } finally {
    database.close();
  }
};

/** What was answered then, but for what depends on the day of the answer, and what is not shown any more of a forgotten borrower. */
const stillAnswered = ({ balances, documents, ...loan }: Json): Json => {
  const { payoff_value: _, payoff_date: __, ...then } = balances;
  // From version 2026.11.3 on nothing is open in the balances once the exit was asked for.
  const lasting = loan.status === 'repurchase_pending' ? { ...then, open_face_value: 0 } : then;
  const forgotten = loan.borrower === null;
  return {
    ...loan,
    balances: lasting,
    documents: documents.map(({ value, ...rest }: Json) => (forgotten ? rest : { value, ...rest })),
  };
};

const everyPage = async (api: ApiClient, path: string): Promise<readonly Json[]> => {
  const all: Json[] = [];
  for (let cursor = ''; ;) {
    const { body } = await api.call('GET', `${path}?limit=200${cursor}`);
    all.push(...body.data);
    if (body.next_cursor === null) return all;
    cursor = `&cursor=${encodeURIComponent(body.next_cursor)}`;
  }
};

describe('on a data directory of an earlier version, after a life of every kind', () => {
  test('the log names every step of the upgrade', () => {
    const steps = [...schemaSteps().difference(before)];
    const said = JSON.stringify(service.logger.lines);
    expect(steps.filter((step) => !said.includes(step))).toEqual([]);
  });

  test('every operation reads as it did, alone and in the list', async () => {
    for (const { api, recorded } of applications) {
      expect(await everyPage(api, '/loan')).toMatchObject(recorded.list);
      const loans = await Promise.all(
        recorded.loans.map(async (loan) => (await api.loan(loan.originator_proposal_code)).body),
      );
      expect(loans).toMatchObject(recorded.loans.map(stillAnswered));
    }
  });

  test('what was not shown then is there: what the fund paid, prepayments, and the value that a repurchase was worth', async () => {
    const [{ api, recorded }] = applications as [(typeof applications)[number]];
    const loans = new Map<string, Json>(
      (await everyPage(api, '/loan')).map((one) => [one.originator_proposal_code, undefined]),
    );
    for (const code of loans.keys()) loans.set(code, (await api.loan(code)).body);
    const prepaid = recorded.replays.filter(({ body }) => body.status === 'prepayment_processed');
    expect(prepaid.length).toBeGreaterThan(1);
    for (const { body } of prepaid) {
      const { prepayment_value: value, settled_installments, excess_value } = body;
      expect(loans.get(body.originator_proposal_code).prepayments).toContainEqual(
        expect.objectContaining({ value, settled_installments, excess_value }),
      );
    }
    for (const loan of loans.values()) {
      const wasActive = loan.status_history.some(({ status }: Json) => status === 'active');
      expect(loan.disbursement !== undefined).toBe(wasActive);
      if (loan.repurchase) expect(loan.repurchase.calculated_value).toEqual(expect.any(Number));
    }
  });

  test('webhooks and their deliveries read as they did', async () => {
    for (const { api, recorded } of applications) {
      expect((await api.call('GET', '/webhook')).body.data).toMatchObject(recorded.webhooks);
      for (const [id, deliveries] of Object.entries(recorded.deliveries))
        expect(await everyPage(api, `/webhook/${id}/deliveries`)).toMatchObject(deliveries);
    }
  });

  test('every accepted request is still known, and answered as a replay', async () => {
    for (const { api, recorded } of applications) {
      for (const { request, status, body } of recorded.replays) {
        const answer = await sendKept(api, request);
        const replayed = answer.headers.get('idempotent-replayed');
        expect({ request, ...answer, replayed }).toMatchObject({ request, status, body, replayed: 'true' });
      }
    }
  });

  test('a settlement of before tells what was missing and what was too much, whatever became of its operation', async () => {
    const published = kept.recorded.events.filter(({ event }) => event === 'installment_settled');
    const told: number[] = [];
    const states = new Set<string>();
    for (const { api, recorded } of applications) {
      for (const { request, body } of recorded.replays.filter((one) => one.body.installment_code)) {
        const { originator_proposal_code: code, installment_code } = body;
        const event = published.find(
          (one) => one.originator_proposal_code === code && one['data'].installment_code === installment_code,
        );
        const above = event!['data'].settled_value - event!['data'].scheduled_value;
        const answer = await sendKept(api, request);
        const [difference, surplus] = [Math.max(0, -above), Math.max(0, above)];
        expect({ code, ...answer.body }).toMatchObject({
          code,
          difference: Number(difference.toFixed(2)),
          surplus: Number(surplus.toFixed(2)),
        });
        told.push(difference);
        states.add((await api.loan(code)).body.status);
      }
    }
    expect(told.filter((difference) => difference > 0).length).toBeGreaterThan(0);
    expect([...states].filter((status) => status !== 'active').length).toBeGreaterThan(0);
  });

  test('the event stream is the same, with the same ids', async () => {
    const { lines } = await receivables('events');
    // The version of the interface is that of the program that prints.
    const expected = kept.recorded.events.map(({ api_version: _, ...event }) => event);
    expect(lines).toMatchObject(expected);
  });

  test('the audit finds nothing, and still says who did what', async () => {
    const summary = JSON.parse((await receivables('audit', 'verify', '--format', 'json')).out);
    expect(summary).toMatchObject({ differences: 0 });
    const [{ recorded }] = applications as [(typeof applications)[number]];
    const options = ['--application', recorded.credentials.application_id, '--format', 'json'];
    const shown = JSON.parse((await receivables('audit', 'show', 'DECIDED', ...options)).out);
    expect(shown.events).toMatchObject(kept.recorded.shown['DECIDED']!);
  });

  test('it goes on: the next settlement is taken', async () => {
    const [{ api }] = applications as [(typeof applications)[number]];
    const answer = await api.settle('ACTIVE', '001', 950, { idempotency_key: 'afterwards' });
    expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([200, null]);
    expect((await api.loan('ACTIVE')).body.balances.received_value).toBe(950);
  });
});
