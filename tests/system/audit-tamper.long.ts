import { randomUUID } from 'node:crypto';
import { readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { beforeAll, describe, expect, test } from '@jest/globals';
import {
  CHAIN_START,
  chainEvents,
  decodeLoanEvent,
  encodeEvent,
} from '../../application/event-codec/event-codec.ts';
import type { EventMetadata, JsonText } from '../../application/ports/event-store.ts';
import { AuditedWorld, auditOf, tamper } from '../support/audited-world.ts';
import type { CommandResult } from '../support/command-line.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

let world: AuditedWorld;
let live: string;
const anchor = join(temporaryDirectory(), 'anchor.jsonl');

beforeAll(async () => {
  world = await AuditedWorld.create(async (service) => {
    live = await service.receivables('audit', 'verify', '--format', 'json', '--write-anchor', anchor);
  });
}, 300_000);

const verify = (file: string, change: (db: DatabaseSync) => void, ...options: readonly string[]) =>
  world.audit(['verify', '--format', 'json', ...options], { file, change });

/** Kinds of the differences, the operation and revision, and what differs. */
const found = ({ lines }: CommandResult): readonly string[] =>
  lines
    .slice(0, -1)
    .map(({ kind, stream, revision, what }) => `${kind} ${stream.split('.')[1] ?? ''}@${revision} ${what}`);

type Tampering = readonly [statement: string, difference: string | RegExp];

/** Does all of it to one copy; each has to be found by itself, because they touch different places. */
const expectEachFound = async (file: string, tamperings: readonly Tampering[]): Promise<void> => {
  const result = await verify(file, (db) => {
    for (const [statement] of tamperings)
      if (Number(db.prepare(statement).run().changes) === 0) throw new Error(`changed nothing: ${statement}`);
  });
  expect(result.code).toBe(4);
  const differences = found(result);
  for (const [, difference] of tamperings)
    expect(differences).toContainEqual(
      typeof difference === 'string' ? difference : expect.stringMatching(difference),
    );
};

const ofStream = (code: string): string => `(select id from streams where name like 'loan-%.${code}')`;
const ofOperation = (code: string): string => `operation = (select id from loan where code = '${code}')`;
const eventOf = (code: string, revision: number): string =>
  `where stream_id = ${ofStream(code)} and revision = ${revision}`;
const last = (code: string): string =>
  `where position = (select max(position) from events where stream_id = ${ofStream(code)})`;
const inMetadata = (path: string, value: string): string =>
  `metadata = json_set(metadata, '$.${path}', '${value}')`;

test('nothing differs in what the service left, live or at rest, with the borrowers forgotten', async () => {
  expect(JSON.parse(live)).toMatchObject({ differences: 0, streams: 9 });
  const options = ['--format', 'json', '--anchor', anchor, '--fund', world.fund];
  const { code, lines } = await world.audit(['verify', ...options]);
  expect([code, lines]).toEqual([0, [expect.objectContaining({ differences: 0, streams: 7 })]]);
  expect(lines[0].frozen_events).toBeGreaterThan(25);
});

describe('in the log', () => {
  test('a changed value is found, wherever it stands', () =>
    expectEachFound('events.db', [
      [`update events set data = replace(data, '90000', '90001') ${eventOf('A', 4)}`, 'chain A@4 hash'],
      [
        `update events set data = replace(data, '"borrower":"', '"borrower":"A') ${eventOf('A', 0)}`,
        'chain A@0 hash',
      ],
      [`update events set ${inMetadata('actor', 'somebody')} ${eventOf('A', 1)}`, 'chain A@1 hash'],
      [`update events set ${inMetadata('hash', '0'.repeat(64))} ${eventOf('A', 3)}`, 'chain A@3 hash'],
      [`update events set ${inMetadata('note', 'x')} ${eventOf('B', 2)}`, 'chain B@2 metadata.note'],
      [`update events set ${inMetadata('idempotency.key', 'x')} ${eventOf('B', 4)}`, 'chain B@4 hash'],
      [`update events set id = '${randomUUID()}' ${eventOf('C', 2)}`, 'chain C@2 hash'],
      [`delete from claims where key = 'rest'`, 'claim B@5 key of POST /installment/prepayment'],
    ]));

  test('what is no event any more is found, and what stands around it is still verified', () =>
    expectEachFound('events.db', [
      [`update events set type = 'loan.unheard_of.v9' ${eventOf('A', 2)}`, 'event A@2 loan.unheard_of.v9'],
      [`update events set data = substr(data, 2) ${eventOf('B', 2)}`, 'event B@2 loan.term_signed.v1'],
      [
        `update events set metadata = substr(metadata, 2) ${eventOf('C', 2)}`,
        'event C@2 loan.term_signed.v1',
      ],
      [`update events set data = replace(data, '4000', '4001') ${eventOf('N', 1)}`, 'chain N@1 hash'],
    ]));

  test('events that are gone, or stand elsewhere, are found', () =>
    expectEachFound('events.db', [
      [`delete from events ${eventOf('A', 4)}`, 'chain A@5 revision'],
      [`delete from events ${last('B')}`, 'read_model B@null progress: version'],
      [`delete from events where type = 'renegotiation.committed.v1'`, 'renegotiation D@5 outcome'],
      [`update events set stream_id = ${ofStream('C')}, revision = 99 ${last('N')}`, 'chain C@99 revision'],
    ]));

  test('an operation that is gone, or whose events stand in another order, is found', () =>
    expectEachFound('events.db', [
      [`delete from events where stream_id = ${ofStream('A')}`, 'read_model A@null loan'],
      [`update events set position = position + 1000 ${eventOf('C', 1)}`, 'log C@2 order in the log'],
    ]));

  test('one other character in any column of an event is found', async () => {
    const columns = { A: 'data', B: 'metadata', C: 'type', D: 'id' } as const;
    const change = (db: DatabaseSync): void => {
      for (const [code, column] of Object.entries(columns)) {
        const { text } = db.prepare(`select ${column} as text from events ${eventOf(code, 1)}`).get()!;
        const at = Math.floor(String(text).length / 2);
        const other = String(text)[at] === '1' ? '2' : '1';
        const changed = String(text).slice(0, at) + other + String(text).slice(at + 1);
        db.prepare(`update events set ${column} = ? ${eventOf(code, 1)}`).run(changed);
      }
    };
    const differences = found(await verify('events.db', change));
    for (const code of Object.keys(columns))
      expect(differences).toContainEqual(expect.stringMatching(`^(chain|event) ${code}@1 `));
  });
});

describe('a history that was written anew, with every hash made to fit', () => {
  /** Lets the first payment be less, and everything after it say so. */
  const rewritten = (row: Readonly<Record<string, unknown>>) => {
    const { hash: _, ...metadata } = JSON.parse(String(row['metadata'])) as EventMetadata;
    const stored = { type: String(row['type']), data: String(row['data']) as JsonText };
    const event = decodeLoanEvent(stored);
    const less = { settledValue: 80_000 as never };
    const about = 'settledValue' in event && event.settledValue === 90_000;
    const changed = about
      ? encodeEvent({ ...event, ...less, ...('difference' in event && { difference: 15_000 as never }) })
      : stored;
    return { id: String(row['id']), ...changed, metadata };
  };
  const rewrite = (db: DatabaseSync): void => {
    const { id, name } = db.prepare(`select id, name from streams where name like 'loan-%.A'`).get()!;
    const rows = db.prepare('select * from events where stream_id = ? order by revision').all(id!);
    const update = db.prepare(
      'update events set data = ?, metadata = ? where stream_id = ? and revision = ?',
    );
    chainEvents(CHAIN_START, String(name), rows.map(rewritten)).forEach(({ data, metadata }, revision) =>
      update.run(data, JSON.stringify(metadata), id!, revision),
    );
  };

  test('contradicts the read models, what was frozen for delivery, and an anchor', async () => {
    const differences = found(await verify('events.db', rewrite, '--anchor', anchor));
    expect(differences.filter((one) => /^(log|chain|price|decision|event)/.test(one))).toEqual([]);
    expect(differences).toContain('read_model A@null progress: received_value');
    expect(differences).toContainEqual(expect.stringMatching(/^delivery A@4 [0-9a-f-]+: body$/));
    expect(differences).toContainEqual(expect.stringMatching(/^anchor A@\d+ hash$/));
  });

  test('an anchor that was changed itself is refused, and the command ends as wrong use', async () => {
    const damaged = `${anchor}.damaged`;
    const text = await readFile(anchor, 'utf8');
    await writeFile(damaged, text.replace(/"revision":[1-9]\d*/, '"revision":0'));
    const { code, err } = await world.audit(['verify', '--anchor', damaged]);
    await rm(damaged);
    expect([code, err]).toEqual([2, expect.stringContaining('of the anchor is not what was written there')]);
  });
});

describe('seals over the log', () => {
  const verifyIn = (dataDir: string, ...more: readonly string[]) =>
    auditOf(dataDir, ['verify', '--format', 'json', ...more]);
  const sinceSettlement = `stream_id = ${ofStream('A')} and revision >=
    (select max(revision) from events where stream_id = ${ofStream('A')} and type like 'installment.settled%')`;

  /** As thorough as somebody who can write all files: the event, its key, what was delivered of it, and every row. */
  const removeSettlement = async (dataDir: string): Promise<void> => {
    let ids: readonly string[] = [];
    tamper(join(dataDir, 'events.db'), (db) => {
      ids = db
        .prepare(`select id from events where ${sinceSettlement}`)
        .all()
        .map(({ id }) => String(id));
      db.prepare(
        `delete from claims where key in (select metadata ->> '$.idempotency.key' from events where ${sinceSettlement})`,
      ).run();
      db.prepare(`delete from events where ${sinceSettlement}`).run();
    });
    tamper(join(dataDir, 'service.db'), (db) => {
      for (const id of ids)
        for (const table of ['webhook_delivery', 'webhook_event'])
          db.prepare(`delete from ${table} where event_id = ?`).run(id);
    });
    for (const name of await readdir(dataDir))
      if (name.startsWith('read-model-')) await rm(join(dataDir, name));
  };

  test('find a settlement that was removed with all that told of it, without an anchor', () =>
    world.onCopy(async (dataDir) => {
      await removeSettlement(dataDir);
      const result = await verifyIn(dataDir);
      expect(result.code).toBe(4);
      const differences = result.lines.slice(0, -1);
      const digest = expect.stringMatching(/^\d+ event\(s\), digest [0-9a-f]{16}$/);
      const what = expect.stringMatching(/^seal \d+ of 20.*: events after (start|\d+) through \d+$/);
      // The settlement, and that the borrower was forgotten later, may lie in two stretches.
      expect(differences.length).toBeGreaterThan(0);
      for (const difference of differences)
        expect(difference).toEqual({
          ...{ kind: 'seal', stream: '', revision: null },
          ...{ what, expected: digest, found: digest },
        });
    }));

  test('that are gone, or were made with another key, are found', () =>
    world.onCopy(async (dataDir) => {
      const file = join(dataDir, 'service.db');
      let seals = 0;
      tamper(file, (db) => {
        seals = Number(db.prepare('select count(*) as seals from log_seal').get()?.['seals']);
        db.exec('delete from log_seal where number = 1');
      });
      // How many there are depends on how long the life took; a book of one has lost its end.
      const missing = seals === 1 ? 'seal @null the end of the seal book' : 'seal @null seal 1';
      expect(found(await verifyIn(dataDir))).toContainEqual(missing);
      tamper(file, (db) => db.exec('delete from log_seal'));
      expect(found(await verifyIn(dataDir))).toEqual(['seal @null the end of the seal book']);
      tamper(file, (db) => db.exec('delete from log_seal_head'));
      expect(found(await verifyIn(dataDir))).toEqual(['seal @null the end of the seal book']);
    }));

  test('a directory that was put back to an earlier state is found with an anchor, and only with one', () =>
    world.onCopy(async (dataDir) => {
      const later = `${anchor}.later`;
      await world.onCopy(async (gone) => {
        expect((await auditOf(gone, ['anchor', '--output', later])).code).toBe(0);
        expect((await verifyIn(gone, '--anchor', later)).code).toBe(0);
        expect((await stat(later)).mode & 0o777).toBe(0o600);
      });
      // The state of before the last seal, as a copy of both databases from then would hold it.
      tamper(join(dataDir, 'service.db'), (db) => {
        db.exec('delete from log_seal; delete from log_seal_head');
        db.exec(`delete from wrapped_key where name = 'data:log-seals'`);
      });
      expect((await verifyIn(dataDir)).code).toBe(0);
      const result = await verifyIn(dataDir, '--anchor', later);
      await rm(later);
      expect([result.code, found(result)]).toEqual([4, [expect.stringMatching(/^anchor @null seal \d+$/)]]);
    }));
});

test('a change in any table of the read models is found', () =>
  expectEachFound('read-model-1.db', [
    [
      `update progress set received_value = received_value + 1 where code = 'A'`,
      'read_model A@null progress: received_value',
    ],
    [`update loan set borrower = 'x' where code = 'B'`, 'read_model B@null loan: borrower'],
    [`update loan set renegotiation = null where code = 'D'`, 'read_model D@null loan: renegotiation'],
    [
      `update installment set status = 'pending' where code = '001' and ${ofOperation('A')}`,
      'read_model A@null installment 001: status',
    ],
    [
      `update installment_credit set value = '0.01' where ${ofOperation('B')}`,
      'read_model B@4 installment_credit 003 4: value',
    ],
    [`update document set sha256 = 'x' where ${ofOperation('A')}`, /^read_model A@0 document .*: sha256$/],
    [
      `delete from status_history where ${ofOperation('C')} and status = 'repurchased'`,
      /^read_model C@null status_history \d+$/,
    ],
    [
      `update payment set amount = 1 where ${ofOperation('A')} and revision = 4`,
      'read_model A@4 payment 4: amount',
    ],
    [
      `update payment set date = '2026-01-01' where ${ofOperation('A')} and revision = 6`,
      'read_model A@null payment 6',
    ],
    [
      `update loan set repurchase_completed_at = null where code = 'C'`,
      'read_model C@null loan: repurchase_completed_at',
    ],
    [`update loan set fund_id = 'x' where code = 'C'`, 'read_model C@null loan: fund_id'],
    [`update loan set left_date = '2020-01-01' where code = 'A'`, 'read_model A@null loan: left_date'],
    [
      `update installment set face_value = 1 where code = '002' and ${ofOperation('A')}`,
      'read_model A@null installment 002: face_value',
    ],
    [`update installment_credit set date = '2020-01-01'`, 'read_model B@4 installment_credit 003 4: date'],
    [
      `insert into prepayment select 7777777, revision, value, date, settled_installments, excess_value from prepayment limit 1`,
      'read_model @null prepayment',
    ],
    [
      `insert into payment select fund_id, date, position, 77, operation, event_id, kind, reason, installment_code, amount,
         owed_value, underpaid_value, excess_value, shortfall_value, received_before, installments, recorded_at
       from payment where ${ofOperation('C')} limit 1`,
      'read_model C@null payment',
    ],
    [`delete from feed where ${ofOperation('A')} and revision = 4`, 'read_model A@null feed 4'],
    [
      `update feed set position = position + 1000000 where ${ofOperation('B')} and revision = 0`,
      'read_model B@null feed 0',
    ],
    [
      `insert into feed select application_id, position, 77, operation from feed where ${ofOperation('C')} limit 1`,
      'read_model C@null feed',
    ],
    [`insert into feed values ('nobody', 1, 0, 7777777)`, 'read_model @null feed'],
  ]));

test('a change in the delivery log is found', () => {
  const eventAt = (sequence: number): string =>
    `event_id = (select event_id from webhook_event where code = 'A' and sequence = ${sequence} limit 1)`;
  return expectEachFound('service.db', [
    [
      `update webhook_event set body = replace(body, '900', '800') where ${eventAt(4)}`,
      /^delivery A@4 .*: body$/,
    ],
    [`update webhook_event set name = 'loan_approved' where ${eventAt(6)}`, /^delivery A@6 .*: name$/],
    [`update webhook_delivery set sequence = 99 where ${eventAt(2)}`, /^delivery A@null /],
    [`update webhook_event set event_id = '${randomUUID()}' where ${eventAt(0)}`, /^delivery .*A@null /],
  ]);
});
