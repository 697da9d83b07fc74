import type { LoanEvent } from '../../domain/loan/index.ts';
import type { LoanState } from '../../domain/loan/state.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { CommandHandler, Handled } from '../command-handling/command-handler.ts';
import { KeyedQueue } from '../command-handling/keyed-queue.ts';
import { ALL_APPLICATIONS, DECISION_KEYS } from '../command-handling/endpoints.ts';
import { loanStream } from '../command-handling/operation.ts';
import { UnreadableEventError } from '../event-codec/fields.ts';
import { requirePaymentDate } from '../loans/payment-dates.ts';
import type { BusinessClock } from '../ports/clock.ts';
import type {
  DecisionDeadLetters,
  ReceivedDecision,
  RefusedDecision,
} from '../ports/decision-dead-letters.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Logger } from '../ports/logger.ts';
import type { StoredFormats } from '../event-codec/stored-formats.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';
import { ChangedMeanwhileError, actorNamed, foundSince, statusOf } from './changed-meanwhile.ts';
import type { FoundLoan } from './changed-meanwhile.ts';
import { carryingOut, commandOf, fingerprintOf, namesOf, readDecision } from './decisions.ts';
import type { CarryOut, SubmittedDecision } from './decisions.ts';
import { requireConfirmed } from './disbursement-rule.ts';
import type { Following } from '../processors/acting.ts';
import { SandboxAdministrator } from './sandbox-administrator.ts';
import { Worklists } from './worklists.ts';

interface Dependencies {
  readonly commands: CommandHandler;
  readonly formats: Pick<StoredFormats, 'forEarlierRelease'>;
  readonly events: Pick<EventStore, 'findClaim' | 'read'>;
  readonly readModel: SqlDatabase;
  readonly clock: BusinessClock;
  /** How far a disbursed value may be from the acquisition value without being said twice, in basis points. */
  readonly disbursementTolerance: number;
  /** A file that refused decisions are added to: this one, or the usual one. */
  readonly deadLetterFile: (path: string | undefined) => DeadLetterFile;
  /** Told of each decision that was put aside, by the rule that refused it. */
  readonly onPutAside?: ((reason: string) => void) | undefined;
  /** What the sandbox's administrator follows; undefined in production. */
  readonly sandbox?: (() => Following & { readonly step: number }) | undefined;
}

interface DeadLetterFile extends DecisionDeadLetters {
  readonly path: string;
}

/** Where refused decisions go, and who is told. */
interface Processing {
  readonly deadLetters: DecisionDeadLetters;
  /** Decides where a text names nobody; default: the administrator. */
  readonly operator?: string;
  readonly logger?: Logger;
}

export type DecisionAnswer =
  | {
      /** `already_applied`: nothing new, because this decision, or another one to the same effect, was carried out before. */
      readonly outcome: 'applied' | 'already_applied';
      readonly decision: SubmittedDecision;
      /** `already_applied` because it is this very one, given again. */
      readonly repeated?: true;
      /** Of the operation now. */
      readonly status: LoanState['status'];
    }
  | {
      readonly outcome: 'refused';
      readonly decisionId?: string;
      /** Undefined when it could not be read. */
      readonly decision?: SubmittedDecision;
      readonly reason: RefusedDecision['reason'];
      /** What became of the operation since it was in the expected status, where that is the reason. */
      readonly meanwhile?: Pick<ChangedMeanwhileError, 'status' | 'changes'>;
    };

/** How far the administrator's clock may be ahead of ours. */
const CLOCK_TOLERANCE_MS = 300_000;

/** Bounds how many commands a large batch keeps under way. */
const AT_ONCE = 64;

/**
 * The fund's administrator: decisions, whatever way they came in, and what waits for them. Each decision is answered: applied, applied
 * before, or refused for good. What may succeed later (a store that is away, a renegotiation under way) is thrown, never answered.
 */
export class Administrator {
  readonly worklists: Worklists;
  readonly disbursementTolerance: number;
  readonly deadLetterFile: Dependencies['deadLetterFile'];
  readonly #deps: Dependencies;
  readonly #carryOut: CarryOut;
  #sandbox: SandboxAdministrator | undefined;

  constructor(dependencies: Dependencies) {
    const { commands, formats, readModel, disbursementTolerance, deadLetterFile } = dependencies;
    this.worklists = new Worklists(readModel);
    this.disbursementTolerance = disbursementTolerance;
    this.deadLetterFile = deadLetterFile;
    this.#deps = dependencies;
    this.#carryOut = carryingOut(commands, formats);
  }

  /** Decides in the administrator's place; undefined in production. */
  get sandbox(): SandboxAdministrator | undefined {
    const { sandbox, events, clock } = this.#deps;
    if (!sandbox) return undefined;
    return (this.#sandbox ??= new SandboxAdministrator({
      ...sandbox(),
      carryOut: this.#carryOut,
      events,
      clock,
    }));
  }

  /** As its events leave it, whatever the read models hold, with its changes since it was in this status; undefined when there is none, or it cannot be read. */
  async found(applicationId: string, code: string, since: string): Promise<FoundLoan | undefined> {
    try {
      const { events } = await this.#deps.events.read(loanStream(applicationId, code));
      const { state, changes } = foundSince(since, events);
      return 'schedule' in state ? { loan: state, changes } : undefined;
    } catch (error) {
      if (error instanceof UnreadableEventError) return undefined;
      throw error;
    }
  }

  /** Answers in the order of the texts; `operator` decides where a text names nobody (default: the administrator). Those on one operation are carried out one after another, others side by side. */
  async submitAll(texts: readonly string[], operator?: string): Promise<readonly DecisionAnswer[]> {
    const queue = new KeyedQueue();
    const answers = texts.map((text) => {
      const reading = readDecision(text);
      if (reading.kind === 'malformed') return Promise.resolve(refused(reading.reason, reading));
      const { decision } = reading;
      return queue.run(loanStream(decision.applicationId, decision.code), () =>
        this.#submit(decision, operator),
      );
    });
    // All of them have ended before a failure is thrown: nothing goes on while the caller tries again.
    await Promise.allSettled(answers);
    return Promise.all(answers);
  }

  /**
   * Carries received decisions out and puts the refused ones aside, so that none holds back those behind it. When it throws, the
   * same batch may be given again.
   * @throws whatever may be different at the next try
   */
  async process(
    received: readonly ReceivedDecision[],
    processing: Processing,
  ): Promise<readonly DecisionAnswer[]> {
    const answers: DecisionAnswer[] = [];
    for (let start = 0; start < received.length; start += AT_ONCE) {
      const part = received.slice(start, start + AT_ONCE);
      const texts = part.map(({ text }) => text);
      const answered = await this.submitAll(texts, processing.operator);
      for (const [i, answer] of answered.entries()) await this.#settle(part[i]!, answer, processing);
      answers.push(...answered);
    }
    return answers;
  }

  async #settle(
    received: ReceivedDecision,
    answer: DecisionAnswer,
    { deadLetters, logger }: Processing,
  ): Promise<void> {
    const { origin } = received;
    if (answer.outcome !== 'refused') {
      const { decision, outcome } = answer;
      logger?.info({ ...namesOf(decision), outcome, origin }, 'decision carried out');
      return;
    }
    const { decisionId, reason } = answer;
    await deadLetters.put({
      ...received,
      ...(decisionId !== undefined && { decisionId }),
      reason,
      refusedAt: this.#deps.clock.now(),
    });
    this.#deps.onPutAside?.(reason.code);
    logger?.warn(
      { decision_id: decisionId, reason: reason.code, message_text: reason.message, origin },
      'decision refused; it lies in the dead letter',
    );
  }

  async #submit(decision: SubmittedDecision, operator?: string): Promise<DecisionAnswer> {
    try {
      this.#requirePast(decision);
      const handled = await this.#decide(decision, operator);
      const done = handled.replayed || handled.events.length === 0;
      if (!handled.replayed && done) await this.#requireUnusedId(decision);
      const outcome = done ? 'already_applied' : 'applied';
      return { outcome, decision, status: handled.state.status, ...(handled.replayed && { repeated: true }) };
    } catch (error) {
      if (error instanceof DomainError && error.code !== 'concurrent_modification') {
        return refused(error, { decisionId: decision.decisionId, decision });
      }
      // Damaged or newer than this version: no decision on this operation can succeed, those on others can.
      if (error instanceof UnreadableEventError) {
        const reason = { code: 'operation_unreadable', message: error.message, details: [] };
        return refused(reason, { decisionId: decision.decisionId, decision });
      }
      throw error;
    }
  }

  #decide(decision: SubmittedDecision, operator?: string): Promise<Handled> {
    const { applicationId, code, decisionId } = decision;
    return this.#carryOut({
      stream: loanStream(applicationId, code),
      applicationId,
      decisionId,
      actor: actorNamed(decision.operator ?? operator),
      idempotency: {
        endpoint: DECISION_KEYS,
        key: decisionId,
        fingerprint: fingerprintOf(decision),
        claim: true,
        claimScope: ALL_APPLICATIONS,
      },
      command: () => commandOf(decision, this.#deps.clock.now()),
      check: (state, decide) => this.#check(decision, state, decide),
    });
  }

  /** What was done already is answered as done; only then it counts what the decision was made on, and what it says. */
  async #check(
    decision: SubmittedDecision,
    state: LoanState,
    decide: () => readonly LoanEvent[],
  ): Promise<readonly LoanEvent[]> {
    const { clock, disbursementTolerance } = this.#deps;
    const [events, refusal] = decidedOr(decide);
    if (events.length === 0 && refusal === undefined) return events;
    await this.#requireExpected(decision, state);
    if (decision.decision === 'disburse')
      requirePaymentDate({ clock, allowFutureDates: false }, 'disbursement_date', decision.disbursementDate);
    if (refusal) throw refusal;
    if (decision.decision === 'disburse' && 'acquisitionValue' in state)
      requireConfirmed(decision, state, disbursementTolerance);
    return events;
  }

  async #requireExpected(
    { applicationId, code, expectedStatus }: SubmittedDecision,
    state: LoanState,
  ): Promise<void> {
    if (expectedStatus === undefined || !('schedule' in state) || statusOf(state) === expectedStatus) return;
    const { events } = await this.#deps.events.read(loanStream(applicationId, code));
    throw new ChangedMeanwhileError(code, expectedStatus, foundSince(expectedStatus, events).changes);
  }

  #requirePast({ decidedAt }: SubmittedDecision): void {
    const { clock } = this.#deps;
    if (decidedAt !== undefined && Date.parse(decidedAt) > Date.parse(clock.now()) + CLOCK_TOLERANCE_MS) {
      const message = `decided_at ${decidedAt} lies in the future`;
      throw new DomainError('invalid_date', message, [
        { field: 'decided_at', code: 'invalid_date', message },
      ]);
    }
  }

  /** A decision without an effect used nothing up, so its id may belong to another one. */
  async #requireUnusedId({ decisionId }: SubmittedDecision): Promise<void> {
    const claim = { applicationId: ALL_APPLICATIONS, endpoint: DECISION_KEYS, key: decisionId };
    if ((await this.#deps.events.findClaim(claim)) === undefined) return;
    throw new DomainError(
      'idempotency_conflict',
      `decision_id ${decisionId} was used for another decision; give this one an id of its own`,
    );
  }
}

const decidedOr = (
  decide: () => readonly LoanEvent[],
): readonly [events: readonly LoanEvent[], refusal?: DomainError] => {
  try {
    return [decide()];
  } catch (error) {
    if (error instanceof DomainError) return [[], error];
    throw error;
  }
};

const refused = (
  reason: RefusedDecision['reason'],
  { decisionId, decision }: { readonly decisionId?: string; readonly decision?: SubmittedDecision },
): DecisionAnswer => ({
  outcome: 'refused',
  ...(decisionId !== undefined && { decisionId }),
  ...(decision && { decision }),
  reason: { code: reason.code, message: reason.message, details: reason.details },
  ...(reason instanceof ChangedMeanwhileError && {
    meanwhile: { status: reason.status, changes: reason.changes },
  }),
});
