import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { loanStream } from '../../application/command-handling/operation.ts';
import { CHAIN_START, chainEvents, encodeEvent } from '../../application/event-codec/event-codec.ts';
import { ENDPOINTS } from '../../application/command-handling/endpoints.ts';
import type { EventToAppend } from '../../application/ports/event-store.ts';
import { toPublicEvent } from '../../application/publication/public-events.ts';
import { loanDecider } from '../../domain/loan/index.ts';
import type { LoanCommand, LoanEvent, LoanState } from '../../domain/loan/index.ts';
import { addDays } from '../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import { API_VERSION } from '../../infrastructure/http/openapi/version.ts';

/** What each operation lives through: of `events` twelve installments, most of them settled; of `streams` one or two events. */
type HistoryOf = 'events' | 'streams';

const INSTALLMENTS: Readonly<Record<HistoryOf, number>> = { events: 12, streams: 1 };
const ISSUED = '2026-01-15' as CalendarDate;
const START = Date.parse('2026-01-15T12:00:00.000Z');

const commandsOf = (of: HistoryOf, code: string, fundId: string, number: number): readonly LoanCommand[] => {
  const now = new Date(START).toISOString() as never;
  const installments = Array.from({ length: INSTALLMENTS[of] }, (_, k) => ({
    code: String(k + 1).padStart(3, '0'),
    dueDate: addDays(ISSUED, 30 * (k + 1) + (number % 7)),
    faceValue: 95_000 + (number % 777),
  }));
  const settled = installments.map((one, k) => ({
    type: 'SettleInstallment',
    installmentCode: one.code,
    settledAt: one.dueDate,
    settledValue: k === 3 ? one.faceValue - 100 : one.faceValue,
    paymentMethod: 'pix',
    now,
  }));
  const prepayment = {
    type: 'ProcessPrepayment',
    prepaymentValue: 300_000 + number,
    prepaymentDate: addDays(ISSUED, 40),
    paymentMethod: 'pix',
    now,
  };
  const received = {
    type: 'ReceiveLoan',
    ...{ applicationId: 'app-1', fundId, code, productType: 'financing', dateIssued: ISSUED, installments },
    acquisitionValue: installments.length * 83_000 + (number % 9_973),
    borrower: 's'.repeat(560),
    documents: [
      {
        documentId: randomUUID(),
        type: 'ccb',
        value: 'ccb.pdf',
        sha256: 'a'.repeat(64),
        size: 600,
        receivedAt: now,
      },
    ],
    now,
  };
  const steps = ['ApproveLoan', 'SignLoanTerm', 'DisburseLoan'].map((type) => ({ type, now }));
  // One in ten uses up a key as well.
  if (of === 'streams')
    return [
      received,
      ...steps.slice(0, number % 2),
      ...(number % 10 === 0 ? [...steps, ...settled] : []),
    ] as unknown as readonly LoanCommand[];
  // One in ten is prepaid in part, which leaves a credit that every later price has to carry.
  const paid = number % 10 === 0 ? [prepayment, ...settled.slice(1, 7)] : settled;
  return [received, ...steps, ...paid] as unknown as readonly LoanCommand[];
};

interface Appended {
  readonly stored: EventToAppend;
  readonly event: LoanEvent;
}

const operation = (stream: string, commands: readonly LoanCommand[]): readonly Appended[] => {
  let state: LoanState = loanDecider.initialState;
  const events = commands.flatMap((command) => {
    const decided = loanDecider.decide(command, state);
    state = decided.reduce((before, event) => loanDecider.evolve(before, event), state);
    return decided.map((event, i) => ({ event, command, first: i === 0 }));
  });
  const chained = chainEvents(
    CHAIN_START,
    stream,
    events.map(({ event, command, first }, i) => ({
      id: randomUUID(),
      ...encodeEvent(event),
      metadata: {
        correlationId: randomUUID(),
        causationId: randomUUID(),
        actor: 'client-1',
        applicationId: 'app-1',
        recordedAt: new Date(START + i).toISOString(),
        ...(first &&
          command.type === 'SettleInstallment' && {
            idempotency: {
              endpoint: ENDPOINTS.settleInstallment,
              key: randomUUID(),
              fingerprint: 'f'.repeat(64),
            },
          }),
      },
    })),
  );
  return chained.map((stored, i) => ({ stored, event: events[i]!.event }));
};

interface Lived {
  readonly id: number;
  readonly code: string;
  readonly events: readonly Appended[];
}

const AT_ONCE = 2_000;

/** Events of operations that live side by side, so that each one's lie far apart in the log. */
function* interleaved(operations: readonly Lived[]) {
  const longest = Math.max(...operations.map(({ events }) => events.length));
  for (let revision = 0; revision < longest; revision += 1)
    for (const { id, code, events } of operations) {
      const appended = events[revision];
      if (appended) yield { id, code, revision, ...appended };
    }
}

const writer = (of: HistoryOf, log: DatabaseSync, service: DatabaseSync, fundId: string) => {
  const addStream = log.prepare('insert into streams (name) values (?) returning id');
  const addEvent = log.prepare(
    'insert into events (stream_id, revision, id, type, data, metadata) values (?, ?, ?, ?, ?, ?)',
  );
  const addClaim = log.prepare('insert into claims values (?, ?, ?, ?)');
  const freeze = service.prepare('insert into webhook_event values (?, ?, ?, ?, ?, ?, ?, ?)');
  return {
    live: (number: number): Lived => {
      const code = `OP-${String(number).padStart(7, '0')}`;
      const stream = loanStream('app-1', code);
      const id = Number(addStream.get(stream)!['id']);
      return { id, code, events: operation(stream, commandsOf(of, code, fundId, number)) };
    },
    append: (operations: readonly Lived[]): number => {
      let count = 0;
      for (const { id, code, revision, stored, event } of interleaved(operations)) {
        const { metadata } = stored;
        addEvent.run(id, revision, stored.id, stored.type, stored.data, JSON.stringify(metadata));
        const { idempotency: used, recordedAt } = metadata;
        if (used) addClaim.run('app-1', used.endpoint, used.key, id);
        const place = {
          eventId: stored.id,
          applicationId: 'app-1',
          fundId,
          code,
          revision: BigInt(revision),
        };
        const one = toPublicEvent(event, { ...place, recordedAt }, API_VERSION);
        if (one)
          freeze.run(one.eventId, 'app-1', one.name, fundId, code, one.sequence, one.timestamp, one.body);
        count += 1;
      }
      return count;
    },
  };
};

/**
 * A log of at least so many events, or of so many streams, over operations that were all lived through, with what was frozen for
 * delivery. The databases must exist. Answers how many events there are.
 */
export const fillHistory = (
  dataDir: string,
  fundId: string,
  wanted: number,
  of: HistoryOf = 'events',
): number => {
  const databases = ['events.db', 'service.db'].map((file) => new DatabaseSync(join(dataDir, file)));
  const [log, service] = databases as [DatabaseSync, DatabaseSync];
  const { live, append } = writer(of, log, service, fundId);
  let [count, number] = [0, 0];
  const missing = (): number => (of === 'streams' ? wanted - number : Math.ceil((wanted - count) / 17));
  try {
    for (const db of databases) db.exec('pragma synchronous = off; begin');
    while (missing() > 0) {
      const size = Math.min(AT_ONCE, missing());
      count += append(Array.from({ length: size }, (_, i) => live(number + i)));
      number += size;
    }
    for (const db of databases) db.exec('commit');
    return count;
  } finally {
    for (const db of databases) db.close();
  }
};
