import type { LoanCommand } from '../../domain/loan/index.ts';
import { renegotiationDecider } from '../../domain/renegotiation/decider.ts';
import type {
  CommittedRenegotiation,
  RenegotiationStarted,
  StartedRenegotiation,
} from '../../domain/renegotiation/state.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { RenegotiationId } from '../../domain/shared/identifiers.ts';
import { loanStream } from '../command-handling/operation.ts';
import type { UsedKey } from '../command-handling/operation.ts';
import { ENDPOINTS } from '../command-handling/endpoints.ts';
import { UnreadableEventError } from '../event-codec/fields.ts';
import type { BusinessClock, RealClock } from '../ports/clock.ts';
import { ConcurrencyError } from '../ports/event-store.ts';
import type { Acting, Coordinator, Coordinators, LoanStreams } from './streams.ts';

interface Dependencies {
  readonly coordinators: Coordinators;
  readonly loans: LoanStreams;
  readonly clock: BusinessClock;
  readonly realClock: RealClock;
  readonly pause: (ms: number) => Promise<void>;
}

/** Many times what a renegotiation takes; commands that meet one of a process that died wait at most so long. */
export const LEASE_MS = 5_000;
/** Short at first, because a decision takes milliseconds; together longer than a lease, so that a crash is waited out. */
const PAUSES_MS = [5, 10, 20, 40, 80, 160, ...Array.from({ length: 28 }, () => 250)];

/** Harmless to do again: each step looks at the operation first, so a process that comes late leaves it alone. */
export class RollForward {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  /** Ends one that stands in the way, whichever process began it. @throws DomainError `concurrent_modification` still undecided after a bounded wait */
  async resolve(id: RenegotiationId): Promise<void> {
    let waitedMs = 0;
    for (const wait of PAUSES_MS) {
      if (await this.attempt(id, waitedMs)) return;
      await this.#deps.pause(wait);
      waitedMs += wait;
    }
    throw new DomainError(
      'concurrent_modification',
      'a renegotiation of this operation is still being decided; send the request again in a few seconds',
    );
  }

  /** False while its lease lives. @param waitedMs by the caller; a whole lease is enough, whatever a clock says @throws UnreadableEventError */
  async attempt(id: RenegotiationId, waitedMs = 0): Promise<boolean> {
    const { coordinators, realClock } = this.#deps;
    const coordinator = await coordinators.read(id);
    const { state } = coordinator;
    // No process of this service writes that: as after an event that is damaged, an operator has to look into it.
    if (state.status === 'none')
      throw new UnreadableEventError(`renegotiation ${id} holds a reservation and has no stream`);
    const lives = waitedMs < LEASE_MS && state.status === 'started';
    if (lives && realClock.realNow() < state.started.leaseEndsAt) return false;
    const isOpen = state.status === 'started';
    await this.conclude(isOpen ? await this.abort(coordinator, itself(state.started)) : coordinator);
    return true;
  }

  /** Gives an undecided renegotiation up. Answers how it is decided: a commit that came first stays. */
  async abort(coordinator: Coordinator, actor: Omit<Acting, 'recordedAt'>): Promise<Coordinator> {
    const { coordinators, clock } = this.#deps;
    const now = clock.now();
    const [aborted] = renegotiationDecider.decide({ type: 'AbortRenegotiation', now }, coordinator.state);
    if (!aborted) return coordinator;
    try {
      return await coordinators.append(coordinator, aborted, { ...actor, recordedAt: now });
    } catch (error) {
      if (!(error instanceof ConcurrencyError)) throw error;
      return coordinators.read(coordinator.id);
    }
  }

  /** Brings every stream to where the decision says, and notes that it is done. Nothing happens before there is a decision. */
  async conclude(coordinator: Coordinator): Promise<void> {
    const { state } = coordinator;
    if (state.status === 'aborted') await this.#release(coordinator, state);
    if (state.status !== 'committed') return;
    await this.carryOut(coordinator, state);
    await this.#complete(coordinator);
  }

  /** All streams at once: the decision stands, so no order between them matters any more. */
  async carryOut(coordinator: Coordinator, { committed }: CommittedRenegotiation): Promise<void> {
    const { originals, newLoan, renegotiation, fingerprint, committedAt: renegotiatedAt } = committed;
    const { received } = committed;
    const { renegotiationId } = renegotiation;
    const leave = originals.map(({ code, stream }) => {
      const idempotency = { endpoint: ENDPOINTS.renegotiate, key: code, fingerprint };
      const command = { type: 'RenegotiateLoan' as const, renegotiation, renegotiatedAt };
      return this.#take(coordinator, stream, command, idempotency);
    });
    const enter = { type: 'ReceiveRenegotiatedLoan' as const, renegotiationId, received };
    await Promise.all([...leave, this.#take(coordinator, newLoan.stream, enter)]);
  }

  async #release(coordinator: Coordinator, { started }: StartedRenegotiation): Promise<void> {
    const { renegotiationId } = started;
    for (const { stream } of placesOf(started)) {
      await this.#take(coordinator, stream, { type: 'ReleaseReservation', renegotiationId });
    }
  }

  async #take(
    { id, decision }: Coordinator,
    stream: string,
    command: LoanCommand,
    idempotency?: UsedKey,
  ): Promise<void> {
    if (!decision) throw new RangeError('a renegotiation is concluded after it is decided');
    const { correlationId, actor, applicationId, recordedAt } = decision.metadata;
    const metadata = { correlationId, causationId: decision.id, actor, applicationId, recordedAt };
    await this.#deps.loans.take({
      renegotiationId: id,
      stream,
      command,
      metadata,
      ...(idempotency && { idempotency }),
    });
  }

  async #complete(coordinator: Coordinator): Promise<void> {
    const { coordinators, clock } = this.#deps;
    const now = clock.now();
    const [completed] = renegotiationDecider.decide(
      { type: 'CompleteRenegotiation', now },
      coordinator.state,
    );
    const metadata = coordinator.decision?.metadata;
    if (!completed || !metadata) return;
    const { correlationId, actor, applicationId } = metadata;
    const acting = { correlationId, causationId: correlationId, actor, applicationId, recordedAt: now };
    try {
      await coordinators.append(coordinator, completed, acting);
    } catch (error) {
      // Another process has carried it out as well, and was faster to say so.
      if (!(error instanceof ConcurrencyError)) throw error;
    }
  }
}

const itself = ({ applicationId, renegotiationId: cause }: RenegotiationStarted) => ({
  ...{ correlationId: cause, causationId: cause, actor: 'renegotiation', applicationId },
});

/** Everything that a renegotiation reserves, in the one order in which all of them do. */
export const placesOf = ({ applicationId, originalProposalCodes, newProposalCode }: RenegotiationStarted) =>
  [...originalProposalCodes, newProposalCode]
    .map((code) => ({ code, stream: loanStream(applicationId, code) }))
    .sort((a, b) => (a.stream < b.stream ? -1 : 1));
