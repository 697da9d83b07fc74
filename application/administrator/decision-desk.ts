import type { LoanState } from '../../domain/loan/state.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { Handled } from '../command-handling/command-handler.ts';
import { KeyedQueue } from '../command-handling/command-handler.ts';
import { loanStream } from '../command-handling/operation.ts';
import { UnreadableEventError } from '../event-codec/fields.ts';
import { requirePaymentDate } from '../loans/inputs.ts';
import type { PaymentDatePolicy } from '../loans/inputs.ts';
import type { BusinessClock } from '../ports/clock.ts';
import type { RefusedDecision } from '../ports/decision-source.ts';
import type { EventStore } from '../ports/event-store.ts';
import { commandOf, fingerprintOf, readDecision } from './decisions.ts';
import type { AdministratorDecisions, SubmittedDecision } from './decisions.ts';

interface Dependencies {
  readonly decisions: AdministratorDecisions;
  readonly events: Pick<EventStore, 'findClaim'>;
  readonly clock: BusinessClock;
  /** For the day of a disbursement. */
  readonly dates: PaymentDatePolicy;
}

export type DecisionAnswer =
  | {
      /** `already_applied`: nothing new, because this decision, or another one to the same effect, was carried out before. */
      readonly outcome: 'applied' | 'already_applied';
      readonly decision: SubmittedDecision;
      /** Of the operation now. */
      readonly status: LoanState['status'];
    }
  | {
      readonly outcome: 'refused';
      readonly decisionId?: string;
      /** Undefined when it could not be read. */
      readonly decision?: SubmittedDecision;
      readonly reason: RefusedDecision['reason'];
    };

/** Under this name decision ids are kept like idempotency keys; part of the stored format. */
export const DECISION_KEYS = 'administrator decision';
/** Decision ids are the administrator's, whatever application the operation belongs to. No application can have this id. */
export const ALL_APPLICATIONS = '*';
/** How far the administrator's clock may be ahead of ours. */
const CLOCK_TOLERANCE_MS = 300_000;

/**
 * Where decisions from outside come in, whatever way they came. Each is answered: applied, applied before, or refused for good.
 * What may succeed later (a store that is away, a renegotiation under way) is thrown, never answered.
 */
export class DecisionDesk {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  /** Answers in the order of the texts, in the name of `actor` (default: the administrator). Those on one operation are carried out one after another, others side by side. */
  async submitAll(texts: readonly string[], actor?: string): Promise<readonly DecisionAnswer[]> {
    const queue = new KeyedQueue();
    const answers = texts.map((text) => {
      const reading = readDecision(text);
      if (reading.kind === 'malformed') return Promise.resolve(refused(reading.reason, reading));
      const { decision } = reading;
      return queue.run(loanStream(decision.applicationId, decision.code), () => this.submit(decision, actor));
    });
    // All of them have ended before a failure is thrown: nothing goes on while the caller tries again.
    await Promise.allSettled(answers);
    return Promise.all(answers);
  }

  /** @throws whatever may be different at the next try */
  async submit(decision: SubmittedDecision, actor?: string): Promise<DecisionAnswer> {
    try {
      this.#requirePlausible(decision);
      const handled = await this.#carryOut(decision, actor);
      const done = handled.replayed || handled.events.length === 0;
      if (!handled.replayed && done) await this.#requireUnusedId(decision);
      const outcome = done ? 'already_applied' : 'applied';
      return { outcome, decision, status: handled.state.status };
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

  #carryOut(decision: SubmittedDecision, actor?: string): Promise<Handled> {
    const { applicationId, code, decisionId } = decision;
    const command = commandOf(decision, this.#deps.clock.now());
    return this.#deps.decisions.carryOut({
      stream: loanStream(applicationId, code),
      applicationId,
      decisionId,
      ...(actor !== undefined && { actor }),
      idempotency: {
        endpoint: DECISION_KEYS,
        key: decisionId,
        fingerprint: fingerprintOf(decision),
        claim: true,
        claimScope: ALL_APPLICATIONS,
      },
      command: () => command,
    });
  }

  #requirePlausible(decision: SubmittedDecision): void {
    const { clock, dates } = this.#deps;
    const { decidedAt } = decision;
    if (decidedAt !== undefined && Date.parse(decidedAt) > Date.parse(clock.now()) + CLOCK_TOLERANCE_MS) {
      const message = `decided_at ${decidedAt} lies in the future`;
      throw new DomainError('invalid_date', message, [
        { field: 'decided_at', code: 'invalid_date', message },
      ]);
    }
    if (decision.decision === 'disburse') {
      requirePaymentDate(dates, clock, 'disbursement_date', decision.disbursementDate);
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

const refused = (
  { code, message, details }: RefusedDecision['reason'],
  { decisionId, decision }: { readonly decisionId?: string; readonly decision?: SubmittedDecision },
): DecisionAnswer => ({
  outcome: 'refused',
  ...(decisionId !== undefined && { decisionId }),
  ...(decision && { decision }),
  reason: { code, message, details },
});
