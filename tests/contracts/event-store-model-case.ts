import { expect } from '@jest/globals';
import fc from 'fast-check';
import type { EventToAppend, KeyClaim, StreamRevision } from '../../application/ports/event-store.ts';
import { ConcurrencyError, KeyAlreadyClaimedError } from '../../application/ports/event-store.ts';
import type { EventStoreCase, EventStoreUnderTest } from './event-store-samples.ts';
import { catchUp, idsOf, newClaim, newPrefix, sampleEvents } from './event-store-samples.ts';

type Step =
  | {
      readonly kind: 'append';
      readonly stream: string;
      /** Away from the right revision by so much. */
      readonly off: number;
      readonly count: number;
      readonly key: string | undefined;
    }
  | { readonly kind: 'repeat'; readonly which: number };

const stream = fc.constantFrom('A', 'B', 'C');
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      stream,
      off: fc.constantFrom(0, 0, 0, 0, -1, 1),
      count: fc.integer({ min: 1, max: 3 }),
      key: fc.constantFrom(undefined, undefined, 'k1', 'k2', 'k3'),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('repeat' as const), which: fc.nat() }) },
);

interface Attempt {
  readonly stream: string;
  readonly expected: StreamRevision;
  readonly events: readonly EventToAppend[];
  readonly claim: KeyClaim | undefined;
}

/** What a store must answer, as plainly as it can be said: lists, looked through from the start each time. */
class Model {
  readonly log: { readonly stream: string; readonly id: string }[] = [];
  readonly done: { readonly attempt: Attempt; readonly answer: string }[] = [];

  length(name: string): number {
    return this.log.filter((event) => event.stream === name).length;
  }

  answer(attempt: Attempt): string {
    const before = this.done.find((entry) => entry.attempt === attempt);
    if (before) return before.answer;
    const length = this.length(attempt.stream);
    const actual = length === 0 ? 'no_stream' : String(length - 1);
    if (actual !== String(attempt.expected)) return `conflict ${actual}`;
    const key = attempt.claim?.key;
    const holder = this.done.find((entry) => key !== undefined && entry.attempt.claim?.key === key);
    if (holder) return `claimed by ${holder.attempt.stream}`;
    this.log.push(...attempt.events.map(({ id }) => ({ stream: attempt.stream, id })));
    const answer = `stored up to ${this.length(attempt.stream) - 1}`;
    this.done.push({ attempt, answer });
    return answer;
  }
}

const revisionAt = (index: number): StreamRevision => (index < 0 ? 'no_stream' : BigInt(index));

const run = async (store: EventStoreUnderTest, attempt: Attempt): Promise<string> => {
  try {
    const { stream: name, expected, events, claim } = attempt;
    const { revision } = await store.append(name, expected, events, claim);
    return `stored up to ${revision}`;
  } catch (error) {
    if (error instanceof ConcurrencyError) return `conflict ${error.actual}`;
    if (error instanceof KeyAlreadyClaimedError) return `claimed by ${error.stream}`;
    throw error;
  }
};

const agree = async (
  store: EventStoreUnderTest,
  patienceMs: number,
  steps: readonly Step[],
): Promise<void> => {
  const prefix = newPrefix();
  const scope = newClaim();
  const model = new Model();
  const from = await store.end();
  for (const next of steps) {
    const done = model.done.map(({ attempt }) => attempt);
    if (next.kind === 'repeat' && done.length === 0) continue;
    const attempt: Attempt | undefined =
      next.kind === 'repeat'
        ? done[next.which % done.length]
        : {
            stream: `${prefix}${next.stream}`,
            expected: revisionAt(model.length(`${prefix}${next.stream}`) - 1 + next.off),
            events: sampleEvents(next.count),
            claim: next.key === undefined ? undefined : { ...scope, key: next.key },
          };
    if (attempt) expect(await run(store, attempt)).toBe(model.answer(attempt));
  }
  for (const name of ['A', 'B', 'C'].map((letter) => `${prefix}${letter}`)) {
    const { events, revision } = await store.read(name);
    expect(idsOf(events)).toEqual(idsOf(model.log.filter((event) => event.stream === name)));
    expect(revision).toBe(revisionAt(events.length - 1));
  }
  const log = await catchUp(store, prefix, patienceMs, { from, streamPrefix: prefix });
  expect(log.map(({ stream: name, id }) => ({ stream: name, id }))).toEqual(model.log);
};

export const modelCase: EventStoreCase = {
  name: 'whatever is appended, repeated or refused, in any order: the store agrees with a plain model',
  check: async (store, patienceMs) => {
    const steps = fc.array(step, { minLength: 1, maxLength: 16 });
    await fc.assert(
      fc.asyncProperty(steps, (given) => agree(store, patienceMs, given)),
      { numRuns: 30, endOnFailure: true },
    );
  },
};
