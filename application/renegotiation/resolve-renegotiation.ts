import { DomainError } from '../../domain/shared/domain-error.ts';
import type { RenegotiationId } from '../../domain/shared/identifiers.ts';
import type { RealClock } from '../ports/clock.ts';
import type { Coordinator, Coordinators } from './coordinators.ts';
import { LEASE_MS } from './protocol.ts';
import type { RollForward } from './roll-forward.ts';

interface Dependencies {
  readonly coordinators: Coordinators;
  readonly conclusion: RollForward;
  readonly realClock: RealClock;
  readonly pause: (ms: number) => Promise<void>;
}

/** A reservation without its renegotiation: no process of this service writes that, so an operator has to look into it. */
export class MissingCoordinatorError extends Error {
  override readonly name = 'MissingCoordinatorError';
  constructor(id: RenegotiationId) {
    super(`renegotiation ${id} holds a reservation and has no stream`);
  }
}

/** Short at first, because a decision takes milliseconds; together longer than a lease, so that a crash is waited out. */
const PAUSES_MS = [5, 10, 20, 40, 80, 160, ...Array.from({ length: 28 }, () => 250)];

/** Ends renegotiations that stand in the way, whichever process began them. */
export class ResolveRenegotiation {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

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

  /**
   * True once it is decided and carried out; false while its lease lives.
   * @param waitedMs by the caller; a whole lease is enough, whatever a clock that was set back says
   */
  async attempt(id: RenegotiationId, waitedMs = 0): Promise<boolean> {
    const { coordinators, conclusion, realClock } = this.#deps;
    const coordinator = await coordinators.read(id);
    const { state } = coordinator;
    if (state.status === 'none') throw new MissingCoordinatorError(id);
    const lives = waitedMs < LEASE_MS && state.status === 'started';
    if (lives && realClock.realNow() < state.started.leaseEndsAt) return false;
    await conclusion.conclude(await this.#decided(coordinator));
    return true;
  }

  async #decided(coordinator: Coordinator): Promise<Coordinator> {
    const { state } = coordinator;
    if (state.status !== 'started') return coordinator;
    const { applicationId, renegotiationId } = state.started;
    const cause = renegotiationId;
    const actor = { correlationId: cause, causationId: cause, actor: 'renegotiation', applicationId };
    return this.#deps.conclusion.abort(coordinator, actor);
  }
}
