import { CommandHandler } from '../../../application/command-handling/command-handler.ts';
import { RENEGOTIATION_STREAM_PREFIX } from '../../../application/command-handling/operation.ts';
import type { Operation } from '../../../application/command-handling/operation.ts';
import type { EventStore } from '../../../application/ports/event-store.ts';
import { recoverRenegotiations } from '../../../application/renegotiation/followers.ts';
import { Renegotiation } from '../../../application/renegotiation/renegotiation.ts';
import { loanDecider } from '../../../domain/loan/index.ts';
import type { ReceiveLoan } from '../../../domain/loan/index.ts';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';
import { DomainError } from '../../../domain/shared/domain-error.ts';
import type {
  FundId,
  RenegotiationId,
  SealedBorrower,
  RealTime,
  Timestamp,
} from '../../../domain/shared/identifiers.ts';
import { cents } from '../../../domain/shared/money.ts';
import { installmentCode, receiveL1 } from '../../domain/support/loan-story.ts';
import { loanCode } from '../../domain/support/renegotiation-story.ts';
import { FUND, context, openVault } from '../../support/application-parts.ts';
import type { TestClock } from '../../support/application-parts.ts';
import { MemoryCheckpoints, oneLookAtTheLog } from '../../support/log-followers.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import {
  APPLICATION,
  MemoryDocuments,
  activation,
  ana,
  command,
  newProposal,
  renegotiation,
  streamOf,
} from '../../support/renegotiation-world.ts';
import { violationsOf } from './invariants.ts';
import { Random } from '../../support/random.ts';
import { Scheduler } from './scheduler.ts';
import { SimulatedStore, StoreOfProcess } from './simulated-store.ts';
import type { Troubles } from './simulated-store.ts';
import { loanStreamsOf } from './variants.ts';
import type { Variant } from './variants.ts';

const LOANS = ['A', 'B', 'C'] as const;
const NEW_CODES = ['N', 'M', 'K'] as const;
const PROCESSES = 3;

/** Faces add up to the price, so that no curve has to be solved thousands of times. */
const installments = ['1', '2'].map((code) => ({
  code: installmentCode(code),
  dueDate: calendarDate('2026-08-20'),
  faceValue: cents(50_000),
}));
const loan = (code: string): ReceiveLoan => ({
  ...receiveL1,
  fundId: FUND as FundId,
  code: loanCode(code),
  acquisitionValue: cents(100_000),
  installments,
  borrower: JSON.stringify({ borrower: ana }) as SealedBorrower,
  documents: [],
});

interface Around {
  readonly clock: TestClock;
  readonly pause: (ms: number) => Promise<void>;
  readonly variant: Variant;
}

/** The service's own parts, over whatever store it is given. */
const processOver = (events: EventStore, { clock, pause, variant }: Around) => {
  const cache = new Map<string, Operation>();
  const forget = (stream: string): unknown => cache.delete(stream);
  const resolving = new Renegotiation({
    ...{ events, forget, pause, clock, realClock: clock },
    loans: loanStreamsOf(variant, { events, pause, forget }),
    vault: openVault,
    documents: new MemoryDocuments(),
    inspector: { inspect: () => Promise.resolve('pdf') },
  });
  const commands = new CommandHandler({
    events,
    cache,
    clock,
    resolve: (id) => resolving.conclusion.resolve(id),
    pause,
  });
  return { commands, resolving };
};
type Parts = ReturnType<typeof processOver>;

const LATER: TestClock = {
  realNow: () => '2030-01-01T00:00:00.000Z' as RealTime,
  now: () => '2030-01-01T00:00:00.000Z' as Timestamp,
  today: () => calendarDate('2030-01-01'),
};

/** One random story: who does what, in which process, with which luck. All of it follows from the seed. */
class Story {
  readonly #random: Random;
  readonly #scheduler: Scheduler;
  readonly #store: SimulatedStore;
  readonly #variant: Variant;
  readonly #paid: string[] = [];
  readonly #refused: string[] = [];
  readonly #renegotiated: string[] = [];
  readonly #unexpected: string[] = [];

  constructor(seed: number, variant: Variant) {
    this.#random = new Random(seed);
    this.#scheduler = new Scheduler(this.#random, this.#random.pick([0, 0.05, 0.25]));
    this.#store = new SimulatedStore(variant === 'unfenced abort');
    this.#variant = variant;
  }

  async violations(): Promise<readonly string[]> {
    const around = { clock: LATER, pause: () => Promise.resolve(), variant: this.#variant };
    const quiet = processOver(this.#store, around);
    for (const code of LOANS)
      for (const one of [loan(code), ...activation]) await command(quiet.commands, code, one);
    this.#begin();
    await this.#scheduler.run();
    await this.#recover(quiet);
    const acknowledged = { paid: this.#paid, refused: this.#refused, renegotiated: this.#renegotiated };
    return [...violationsOf(this.#store.events, acknowledged), ...this.#unexpected];
  }

  #begin(): void {
    const luck = this.#random.pick([0, 0.04, 0.12]);
    const troubles: Troubles = { lost: luck, answerLost: luck, deathBefore: luck / 4, deathAfter: luck / 4 };
    const scheduler = this.#scheduler;
    const world = { store: this.#store, scheduler, random: this.#random, troubles };
    const processes = Array.from({ length: PROCESSES }, (_, id) =>
      processOver(new StoreOfProcess(world, id), {
        clock: scheduler,
        pause: (ms) => scheduler.pause(id, ms),
        variant: this.#variant,
      }),
    );
    const anybody = (): Parts => this.#random.pick(processes);
    for (let i = this.#random.between(2, 4); i > 0; i--) this.#renegotiates(anybody());
    for (let i = this.#random.between(1, 3); i > 0; i--) this.#pays(anybody(), `P${i}`);
    for (let i = this.#random.between(1, 3); i > 0; i--) this.#resolves(anybody(), this.#random.below(20));
    if (this.#random.chance(0.2)) this.#assigns(anybody());
  }

  /** Few codes, so that requests get in each other's way, and some are even the same. */
  #renegotiates({ resolving: one }: Parts): void {
    const originals = LOANS.filter(() => this.#random.chance(0.5));
    const code = this.#random.pick(NEW_CODES);
    const input = renegotiation(originals.length > 0 ? originals : ['A'], {
      newProposal: newProposal({ code: loanCode(code), acquisitionValue: cents(100_000), installments }),
    });
    this.#note(one.renegotiate(context(), input).then(() => void this.#renegotiated.push(code)));
  }

  #pays({ commands }: Parts, key: string): void {
    const code = this.#random.pick(LOANS);
    const installment = installmentCode(this.#random.pick(['1', '2']));
    const payment = commands.handle({
      stream: streamOf(code),
      applicationId: APPLICATION,
      actor: 'test',
      correlationId: key,
      idempotency: { endpoint: 'settle', key, fingerprint: key, claimedIn: APPLICATION },
      decide: (state) =>
        loanDecider.decide(
          {
            type: 'SettleInstallment',
            installmentCode: installment,
            settledAt: calendarDate('2026-06-20'),
            settledValue: cents(50_000),
            paymentMethod: 'pix',
            now: this.#scheduler.now(),
          },
          state,
        ),
    });
    const noted = payment.then(
      () => void this.#paid.push(key),
      (error: unknown) => {
        if (error instanceof DomainError) this.#refused.push(key);
        throw error;
      },
    );
    this.#note(noted);
  }

  #assigns({ commands }: Parts): void {
    const code = this.#random.pick(NEW_CODES);
    this.#note(command(commands, code, loan(code)));
  }

  /** A recovery that looks at the wrong moments as well as at the right ones. */
  #resolves({ resolving }: Parts, looks: number): void {
    const look = async (): Promise<void> => {
      for (let i = 0; i < looks; i++) {
        await this.#scheduler.pause(PROCESSES, 100);
        const streams = this.#store.events.map(({ stream }) => stream);
        const coordinators = [
          ...new Set(streams.filter((name) => name.startsWith(RENEGOTIATION_STREAM_PREFIX))),
        ];
        if (coordinators.length === 0) continue;
        const id = this.#random.pick(coordinators).slice(RENEGOTIATION_STREAM_PREFIX.length);
        await resolving.conclusion.attempt(id as RenegotiationId);
      }
    };
    this.#note(look());
  }

  /** Refusals and unknown outcomes are answers; anything else is a defect of the protocol. */
  #note(work: Promise<unknown>): void {
    work.catch((error: unknown) => {
      if (error instanceof DomainError || EXPECTED.has((error as Error).name)) return;
      this.#unexpected.push(`unexpected ${String(error)}`);
    });
  }

  /** Much later, in a process that nothing happened to. */
  async #recover({ resolving }: Parts): Promise<void> {
    const { subscription, signal, stop } = oneLookAtTheLog(this.#store);
    const logger = new RecordingLogger();
    const checkpoints = new MemoryCheckpoints();
    const sleep = (): Promise<void> => {
      // What fails once in a store without troubles fails for ever.
      if (logger.lines.length > 0) stop();
      return Promise.resolve();
    };
    await recoverRenegotiations({
      conclusion: resolving.conclusion,
      subscription,
      checkpoints,
      realClock: LATER,
      logger,
      sleep,
    }).run(signal);
    this.#unexpected.push(...logger.lines.map(({ message }) => `recovery: ${message}`));
  }
}

const EXPECTED = new Set(['OutcomeUnknownError', 'ConcurrencyError']);

export const simulate = (seed: number, variant: Variant): Promise<readonly string[]> =>
  new Story(seed, variant).violations();
