import {
  ConcurrencyError,
  KeyAlreadyClaimedError,
  OutcomeUnknownError,
} from '../../../application/ports/event-store.ts';
import type {
  AppendResult,
  EventToAppend,
  JsonText,
  KeyClaim,
  StreamRevision,
} from '../../../application/ports/event-store.ts';
import { retryAppend } from '../../../application/support/retry.ts';
import { CLAIM_STREAM_PREFIX, KeyClaims } from '../../../infrastructure/eventstoredb/key-claims.ts';
import type { SingleStreams } from '../../../infrastructure/eventstoredb/key-claims.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import { Random } from '../../support/random.ts';
import { Scheduler } from './scheduler.ts';

/** The real protocol, and ways to get it wrong that the simulation has to notice. */
export const CLAIM_VARIANTS = [
  'real',
  'takes a key over whose intent is still open',
  'takes a key over at any revision',
  'writes intents for revisions to come',
] as const;
type ClaimVariant = (typeof CLAIM_VARIANTS)[number];

const STREAMS = ['loan-a.1', 'loan-a.2', 'loan-a.3'];
const KEYS = ['k1', 'k2'];
const PROCESSES = 3;
const COMMANDS = 5;
/** Whose turns are those of requests that the network kept for later. */
const NETWORK = 99;

const claimOf = (key: string): KeyClaim => ({ applicationId: 'a', endpoint: 'e', key });

/** One append as it was attempted, and what its caller was told at last. */
interface Attempt {
  readonly key: string | undefined;
  readonly stream: string;
  readonly ids: readonly string[];
  told: 'nothing' | 'stored' | 'refused' | 'unknown';
}

class World {
  readonly store = new InMemoryEventStore();
  readonly attempts: Attempt[] = [];
  readonly random: Random;
  readonly scheduler: Scheduler;
  #ids = 0;

  constructor(seed: number) {
    this.random = new Random(seed);
    this.scheduler = new Scheduler(this.random, 0);
  }

  newId(): string {
    return `00000000-0000-4000-8000-${String(++this.#ids).padStart(12, '0')}`;
  }
}

type Events = readonly [EventToAppend, ...EventToAppend[]];

/** The streams as one process sees them: each call takes its turn, and appends meet the network. */
class StreamsOfProcess implements SingleStreams {
  readonly #world: World;
  readonly process: number;
  readonly #variant: ClaimVariant;
  readonly #own = new Set<string>();

  constructor(world: World, process: number, variant: ClaimVariant) {
    this.#world = world;
    this.process = process;
    this.#variant = variant;
  }

  /** Notes that these are this process's own. */
  own(events: Events): void {
    for (const { id } of events) this.#own.add(id);
  }

  head(stream: string): Promise<StreamRevision> {
    return this.#turn(() => this.#world.store.head(stream));
  }

  last(stream: string) {
    return this.#turn(async () => (await this.#world.store.read(stream)).events.at(-1));
  }

  at(stream: string, revision: bigint) {
    return this.#turn(async () => (await this.#world.store.read(stream, revision)).events[0]);
  }

  async hasReached(stream: string, revision: bigint): Promise<boolean> {
    if (this.#variant === 'writes intents for revisions to come') return true;
    const head = await this.head(stream);
    return head !== 'no_stream' && head >= revision;
  }

  append(stream: string, expected: StreamRevision, events: Events): Promise<AppendResult> {
    const isClaim = stream.startsWith(CLAIM_STREAM_PREFIX);
    if (this.#variant === 'takes a key over whose intent is still open' && !isClaim) {
      if (!this.#own.has(events[0].id))
        return Promise.reject(new ConcurrencyError(stream, expected, expected));
    }
    const { random, scheduler } = this.#world;
    return this.#turn(async () => {
      const fate = random.next();
      if (fate < 0.08) throw new OutcomeUnknownError('lost on the way there');
      if (fate < 0.2) {
        // A time-out: the request is still somewhere, and arrives whenever it likes.
        void scheduler.turn(NETWORK, () => this.#carryOut(stream, expected, events).catch(() => undefined));
        throw new OutcomeUnknownError('late');
      }
      if (fate < 0.24) return this.#die();
      const result = await this.#carryOut(stream, expected, events);
      if (fate < 0.32) throw new OutcomeUnknownError('lost on the way back');
      if (fate < 0.35) return this.#die();
      return result;
    });
  }

  async #carryOut(stream: string, expected: StreamRevision, events: Events): Promise<AppendResult> {
    const { store } = this.#world;
    try {
      return await store.append(stream, expected, events);
    } catch (error) {
      const anywhere =
        this.#variant === 'takes a key over at any revision' && stream.startsWith(CLAIM_STREAM_PREFIX);
      if (!anywhere || expected === 'no_stream' || !(error instanceof ConcurrencyError)) throw error;
      return store.append(stream, error.actual, events);
    }
  }

  async #turn<T>(act: () => Promise<T>): Promise<T> {
    const { scheduler } = this.#world;
    const answer = await scheduler.turn(this.process, act);
    return scheduler.isDead(this.process) ? never() : answer;
  }

  #die<T>(): Promise<T> {
    this.#world.scheduler.kill(this.process);
    return never();
  }
}

const never = <T>(): Promise<T> => new Promise<T>(() => undefined);

const newEvents = (world: World): Events => {
  const event = (): EventToAppend => ({
    id: world.newId(),
    type: 'loan.received.v1',
    data: '{}' as JsonText,
    metadata: {
      correlationId: '',
      causationId: '',
      actor: '',
      applicationId: 'a',
      recordedAt: '',
      hash: '',
    },
  });
  return world.random.chance(0.5) ? [event()] : [event(), event()];
};

/** Decides and appends until it is done, refused, or nobody knows: as the command handler does, without a domain. */
const command = async (world: World, streams: StreamsOfProcess, claims: KeyClaims): Promise<void> => {
  const { random, scheduler } = world;
  const stream = random.pick(STREAMS);
  const key = random.chance(0.8) ? random.pick(KEYS) : undefined;
  for (let decision = 0; decision < 3; decision++) {
    const head = await streams.head(stream);
    const ahead = random.chance(0.1);
    const expected = ahead ? (head === 'no_stream' ? 0n : head + 1n) : head;
    const events = newEvents(world);
    streams.own(events);
    const attempt: Attempt = { key, stream, ids: events.map(({ id }) => id), told: 'nothing' };
    world.attempts.push(attempt);
    try {
      await retryAppend(
        () =>
          key === undefined
            ? streams.append(stream, expected, events)
            : claims.append({ stream, expected, events }, claimOf(key)),
        (ms) => scheduler.pause(streams.process, ms),
      );
      attempt.told = 'stored';
      return;
    } catch (error) {
      // Without a key, nobody keeps an append for a revision that is yet to come: only the network may, and does.
      const certain = error instanceof ConcurrencyError || error instanceof KeyAlreadyClaimedError;
      attempt.told = certain && !(ahead && key === undefined) ? 'refused' : 'unknown';
      if (!(error instanceof ConcurrencyError)) return;
    }
  }
};

const violationsIn = async (world: World): Promise<readonly string[]> => {
  const { store, attempts } = world;
  const violations: string[] = [];
  const storedIds = new Set<string>();
  for (const stream of STREAMS) for (const { id } of (await store.read(stream)).events) storedIds.add(id);
  const isStored = ({ ids }: Attempt): boolean => ids.some((id) => storedIds.has(id));
  for (const attempt of attempts) {
    if (attempt.told === 'stored' && !isStored(attempt)) violations.push(`${attempt.ids[0]} was lost`);
    if (attempt.told === 'refused' && isStored(attempt))
      violations.push(`${attempt.ids[0]} was refused, and stored`);
  }
  for (const key of KEYS) {
    const used = attempts.filter((attempt) => attempt.key === key && isStored(attempt));
    if (used.length > 1) violations.push(`${key} was used ${used.length} times`);
  }
  return violations;
};

/** One random story. @returns what went wrong in it, in words */
export const simulateClaims = async (seed: number, variant: ClaimVariant): Promise<readonly string[]> => {
  const world = new World(seed);
  for (let process = 0; process < PROCESSES; process++) {
    const streams = new StreamsOfProcess(world, process, variant);
    const claims = new KeyClaims(streams);
    void (async () => {
      for (let n = 0; n < COMMANDS; n++) await command(world, streams, claims).catch(() => undefined);
    })();
  }
  await world.scheduler.run();
  return violationsIn(world);
};
