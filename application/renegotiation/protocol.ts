import { randomUUID } from 'node:crypto';
import { renegotiationDecider } from '../../domain/renegotiation/decider.ts';
import type {
  CommitRenegotiation,
  CommittedRenegotiation,
  Proposal,
  RenegotiationCommand,
  Reservation,
  Reserved,
} from '../../domain/renegotiation/state.ts';
import type { LoanState } from '../../domain/loan/index.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { ApplicationId, RealTime, RenegotiationId } from '../../domain/shared/identifiers.ts';
import type { BusinessClock, RealClock } from '../ports/clock.ts';
import { ConcurrencyError } from '../ports/event-store.ts';
import { LEASE_MS, placesOf } from './roll-forward.ts';
import type { RollForward } from './roll-forward.ts';
import { noCoordinator } from './streams.ts';
import type { Acting, Coordinator, Coordinators, LoanStreams } from './streams.ts';

interface RenegotiationRequest {
  readonly proposal: Proposal;
  readonly applicationId: ApplicationId;
  readonly actor: string;
  readonly correlationId: string;
  readonly fingerprint: string;
  /** What the new operation takes over from the originals as they are now, reserved; durable when it resolves. */
  readonly inherit: (
    originals: readonly LoanState[],
  ) => Promise<Pick<CommitRenegotiation, 'borrower' | 'documents'>>;
}

interface Dependencies {
  readonly coordinators: Coordinators;
  readonly loans: LoanStreams;
  readonly conclusion: RollForward;
  readonly clock: BusinessClock;
  readonly realClock: RealClock;
}

const start = async (
  { coordinators, clock, realClock }: Dependencies,
  request: RenegotiationRequest,
): Promise<Coordinator> => {
  const renegotiationId = randomUUID() as RenegotiationId;
  const { originalProposalCodes, newProposalCode } = request.proposal;
  const now = clock.now();
  const coordinator = noCoordinator(renegotiationId);
  const event = onlyEvent(coordinator, {
    type: 'StartRenegotiation',
    renegotiationId,
    applicationId: request.applicationId,
    originalProposalCodes,
    newProposalCode,
    leaseEndsAt: new Date(Date.parse(realClock.realNow()) + LEASE_MS).toISOString() as RealTime,
    now,
  });
  return coordinators.append(coordinator, event, actingFor(request, now));
};

/** In one order for all, so that of two that want the same, one gets everything and the other one nothing. */
const reserve = async (
  { loans, clock }: Dependencies,
  coordinator: Coordinator,
  request: RenegotiationRequest,
): Promise<ReadonlyMap<string, Reserved>> => {
  const reserved = new Map<string, Reserved>();
  if (coordinator.state.status !== 'started') throw new RangeError('reservations follow the start');
  const { renegotiationId, leaseEndsAt, newProposalCode } = coordinator.state.started;
  for (const { code, stream } of placesOf(coordinator.state.started)) {
    const command =
      code === newProposalCode
        ? { type: 'ReserveLoanCode' as const, renegotiationId, code, leaseEndsAt }
        : { type: 'ReserveLoan' as const, renegotiationId, leaseEndsAt };
    const metadata = actingFor(request, clock.now());
    const { state, revision } = await loans.take({ renegotiationId, stream, command, metadata });
    const reservation: Reservation = { code, stream, revision: Number(revision) };
    reserved.set(code, { reservation, state });
  }
  return reserved;
};

const commit = async (
  { coordinators, clock }: Dependencies,
  coordinator: Coordinator,
  request: RenegotiationRequest,
  reserved: ReadonlyMap<string, Reserved>,
): Promise<Coordinator> => {
  const { proposal, fingerprint } = request;
  const originals = proposal.originalProposalCodes.map((code) => required(reserved.get(code)));
  const newLoan = required(reserved.get(proposal.newProposalCode));
  const inherited = await request.inherit(originals.map(({ state }) => state));
  const now = clock.now();
  const event = onlyEvent(coordinator, {
    type: 'CommitRenegotiation',
    proposal,
    originals,
    newLoan,
    ...inherited,
    fingerprint,
    now,
  });
  return coordinators.append(coordinator, event, actingFor(request, now));
};

/**
 * Also after an append whose outcome is unknown: the abort stands exactly where the commit would, so trying it tells which of
 * the two happened. When not even that can be done, the lease runs out and another process does.
 */
const giveUp = async (
  { conclusion, clock }: Dependencies,
  started: Coordinator,
  request: RenegotiationRequest,
  reason: unknown,
): Promise<CommittedRenegotiation | undefined> => {
  let decided: Coordinator;
  try {
    const { recordedAt: _, ...actor } = actingFor(request, clock.now());
    decided = await conclusion.abort(started, actor);
    await conclusion.conclude(decided);
  } catch {
    throw reason;
  }
  if (decided.state.status === 'committed' || decided.state.status === 'completed') return decided.state;
  if (isOvertaken(reason)) return undefined;
  throw reason;
};

const isOvertaken = (reason: unknown): boolean =>
  reason instanceof ConcurrencyError ||
  (reason instanceof DomainError && reason.code === 'concurrent_modification');

const actingFor = (
  { correlationId, actor, applicationId }: RenegotiationRequest,
  recordedAt: string,
): Acting => ({ correlationId, causationId: correlationId, actor, applicationId, recordedAt });

const onlyEvent = ({ state }: Coordinator, command: RenegotiationCommand) => {
  const [event] = renegotiationDecider.decide(command, state);
  return required(event);
};

const required = <T>(value: T | undefined): T => {
  if (value === undefined)
    throw new RangeError('a step of a renegotiation lacks what the step before it made');
  return value;
};

/**
 * One decision over several streams, of a store that appends to one at a time: reserve everything, then commit with a single
 * append to the coordinator's stream, then carry it out. Before that append nothing has happened, after it everything has.
 *
 * Answers the commit, carried out; undefined when others were faster and nothing changed.
 *
 * @throws DomainError what the reserved operations do not allow; nothing changed
 */
export const renegotiated = async (
  deps: Dependencies,
  request: RenegotiationRequest,
): Promise<CommittedRenegotiation | undefined> => {
  const started = await start(deps, request);
  try {
    const reserved = await reserve(deps, started, request);
    const committed = await commit(deps, started, request, reserved);
    if (committed.state.status !== 'committed') throw new RangeError('a commit commits');
    await deps.conclusion.carryOut(committed, committed.state);
    return committed.state;
  } catch (error) {
    return giveUp(deps, started, request, error);
  }
};
