import { describe, expect, test } from '@jest/globals';
import { recoverRenegotiations } from '../../../application/renegotiation/followers.ts';
import { DomainError } from '../../../domain/shared/domain-error.ts';
import type { Timestamp } from '../../../domain/shared/identifiers.ts';
import { context, fixedClock } from '../../support/application-parts.ts';
import { FaultyEventStore, MortalEventStore } from '../../support/faulty-event-store.ts';
import type { Death, Fate } from '../../support/faulty-event-store.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import { MemoryCheckpoints, oneLookAtTheLog } from '../../support/log-followers.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import {
  MemoryDocuments,
  activeLoan,
  newProposal,
  pay,
  renegotiation,
  startProcess,
  statusOf,
} from '../../support/renegotiation-world.ts';
import type { Process } from '../../support/renegotiation-world.ts';
import { receivedFile } from '../../support/received-file.ts';

/** start, three reservations, commit, two originals, the new operation */
const APPENDS = 8;
/** Longer than any lease. */
const LATER = fixedClock('2026-06-20T12:01:00.000Z' as Timestamp);
const input = renegotiation(['L1', 'L2'], {
  newProposal: newProposal({ documents: [{ type: 'renegotiation_document', value: 'debt.pdf' }] }),
  files: [receivedFile('debt.pdf', '', { size: 3, sha256: 'cc'.repeat(32) })],
});

const world = async () => {
  const store = new InMemoryEventStore();
  const documents = new MemoryDocuments();
  const first = startProcess(store, { documents });
  for (const code of ['L1', 'L2']) await activeLoan(first, documents, code);
  return { store, documents };
};

const statuses = (process: Process) => Promise.all(['L1', 'L2', 'N1'].map((code) => statusOf(process, code)));
const ALL = ['renegotiated', 'renegotiated', 'received'];
const NOTHING = ['active', 'active', 'none'];

const died = async (deadly: number, death: Death) => {
  const { store, documents } = await world();
  const mortal = new MortalEventStore(store, deadly, death);
  const { renegotiation: one } = startProcess(mortal, { documents });
  const outcome = await Promise.race([
    one.renegotiate(context(), input).then(() => 'answered'),
    mortal.died.then(() => 'died'),
  ]);
  return { store, outcome, next: startProcess(store, { documents, clock: LATER }) };
};

const deaths = Array.from({ length: APPENDS }, (_, i) => i + 1).flatMap((deadly) =>
  (['before', 'after'] as const).map((death) => ({ deadly, death })),
);
/** The commit is the fifth append. */
const isCommitted = (deadly: number, death: Death): boolean =>
  deadly > 5 || (deadly === 5 && death === 'after');

describe('a process dies in a renegotiation', () => {
  test('there is no append beyond the ones that are tried here', async () => {
    expect((await died(APPENDS, 'before')).outcome).toBe('died');
    expect((await died(APPENDS + 1, 'before')).outcome).toBe('answered');
  });

  describe.each(deaths)('$death append $deadly', ({ deadly, death }) => {
    const expected = isCommitted(deadly, death) ? ALL : NOTHING;

    test('the same request in a new process finds it done or does it', async () => {
      const { next } = await died(deadly, death);
      const { replayed } = await next.renegotiation.renegotiate(context(), input);
      expect(replayed).toBe(isCommitted(deadly, death));
      expect(await statuses(next)).toEqual(ALL);
    });

    test('the recovery ends it, all or nothing, without anybody asking', async () => {
      const { store, next } = await died(deadly, death);
      const { subscription, signal } = oneLookAtTheLog(store);
      const recovery = recoverRenegotiations({
        conclusion: next.renegotiation.conclusion,
        subscription,
        checkpoints: new MemoryCheckpoints(),
        realClock: LATER,
        logger: new RecordingLogger(),
        sleep: () => Promise.resolve(),
      });
      await recovery.run(signal);
      expect(await statuses(next)).toEqual(expected);
    });

    test.each(['L1', 'L2'])(
      'a payment of %s ends it first, and is accepted or refused by how it ended',
      async (code) => {
        const { next } = await died(deadly, death);
        const refused = await pay(next.commands, code, '001').catch((error: unknown) => error);
        if (isCommitted(deadly, death)) expect(refused).toMatchObject({ code: 'operation_invalid_state' });
        else expect(refused).not.toBeInstanceOf(DomainError);
        // The start alone stands in nobody's way, and neither does what the payment did not meet.
        const left = await statuses(next);
        expect(isCommitted(deadly, death) ? ALL : NOTHING).toContain(left[code === 'L1' ? 0 : 1]);
      },
    );
  });
});

describe('an append of a renegotiation fails or its answer is lost', () => {
  const fates: readonly (readonly [string, readonly Fate[]])[] = [
    ['refused', ['refused']],
    ['lost once', ['lost']],
    ['answer lost once', ['answer_lost']],
    ['lost for good', Array.from({ length: 5 }, () => 'lost' as const)],
    ['answer lost for good', Array.from({ length: 5 }, () => 'answer_lost' as const)],
  ];
  const cases = fates.flatMap(([name, list]) =>
    Array.from({ length: APPENDS }, (_, i) => ({
      name,
      append: i + 1,
      list: [...Array.from({ length: i }, () => 'works' as const), ...list],
    })),
  );

  test.each(cases)('append $append: $name', async ({ list }) => {
    const { store, documents } = await world();
    const shaky = startProcess(new FaultyEventStore(store, list), { documents });
    const answer = await shaky.renegotiation.renegotiate(context(), input).catch((error: unknown) => error);
    const next = startProcess(store, { documents, clock: LATER });
    if (!(answer instanceof Error)) expect(await statuses(next)).toEqual(ALL);
    await next.renegotiation.renegotiate(context(), input);
    expect(await statuses(next)).toEqual(ALL);
  });
});
