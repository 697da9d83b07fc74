import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Container } from 'inversify';
import { running, together } from '../../application/coordination/background.ts';
import type { Background } from '../../application/coordination/background.ts';
import { LeasedRunner } from '../../application/coordination/leased-runner.ts';
import { pause } from '../support/time.ts';
import { allProjections } from './all-projections.ts';
import type { Configuration, Role } from './configuration.ts';
import { decisionConsumer } from './decision-consumer.ts';
import { sharesStores } from './engines.ts';
import type { Roles } from './running-roles.ts';
import { TOKENS } from './tokens.ts';

const ATTEMPT_GRACE_MS = 2_000;

interface RolePart {
  readonly role: Role;
  /** One process of all runs the parts of a lease; without one, as many as have the role. */
  readonly lease?: string;
  readonly make: () => Background;
}

const schedulerParts = (container: Container, { environment }: Configuration): readonly RolePart[] => {
  const part = (name: string, run: () => { run(signal: AbortSignal): Promise<void> }): RolePart => ({
    role: 'scheduler',
    lease: 'scheduler',
    make: () => running(name, (signal) => run().run(signal)),
  });
  return [
    part('overdue scheduler', () => container.get(TOKENS.overdueScheduler)),
    part('renegotiation recovery', () => container.get(TOKENS.recoverRenegotiations)),
    part('log sealer', () => container.get(TOKENS.sealLog)),
    part('renegotiation completion', () => container.get(TOKENS.completeRenegotiations)),
    ...(environment === 'sandbox'
      ? [part('sandbox administrator', () => container.get(TOKENS.sandboxAdministrator))]
      : []),
  ];
};

/** Without a lease: the consumer group gives every process its share. */
const decisionParts = (container: Container, { kafka }: Configuration): readonly RolePart[] =>
  kafka ? [{ role: 'scheduler', make: () => decisionConsumer(container, kafka) }] : [];

/** Processes that write read models of other versions write into other tables, so each of the two kinds has one at work. */
const PROJECTOR_LEASE = `projector ${allProjections.map(({ name, version }) => `${name}.${version}`).join(' ')}`;

const partsOf = (container: Container, configuration: Configuration): readonly RolePart[] => [
  {
    role: 'webhooks',
    make: () => {
      const { worker } = container.get(TOKENS.webhookSide);
      return {
        name: 'webhooks',
        start: () => void worker.start(),
        stop: () => worker.stop(ATTEMPT_GRACE_MS),
      };
    },
  },
  {
    role: 'projector',
    lease: 'projector',
    make: () => {
      const projector = container.get(TOKENS.loanProjector);
      return { name: 'projector', start: () => projector.start(), stop: () => projector.stop() };
    },
  },
  ...container.get(TOKENS.fundSideProjectors).map((projector): RolePart => ({
    role: 'projector',
    lease: 'projector',
    make: () => ({
      name: `${projector.status().projection} projector`,
      start: () => projector.start(),
      stop: () => projector.stop(),
    }),
  })),
  {
    role: 'relay',
    lease: 'relay',
    make: () => {
      const relay = container.get(TOKENS.relay);
      return { name: 'relay', start: () => relay.start(), stop: () => relay.stop() };
    },
  },
  ...schedulerParts(container, configuration),
  ...decisionParts(container, configuration),
];

const leasedRunner = (container: Container, lease: string, parts: readonly Background[]): LeasedRunner =>
  new LeasedRunner({
    lease: lease === 'projector' ? PROJECTOR_LEASE : lease,
    holder: `${hostname()} ${process.pid} ${randomUUID()}`,
    leases: container.get(TOKENS.leases),
    inner: together(lease, parts),
    logger: container.get(TOKENS.logger),
    sleep: pause,
    now: () => performance.now(),
  });

/** Of every process and thread of a sandbox, whatever its roles: others move the clock. */
const clockParts = (container: Container): readonly Background[] => {
  const clock = container.get(TOKENS.sandboxClock);
  return clock ? [running('sandbox clock', (signal) => clock.follow(signal))] : [];
};

/**
 * What this process runs beside the requests. Leases are for processes that share a database; alone, a process that died would
 * only have to wait for its own lease to end. Everything here is safe without them, and merely wasteful when it runs twice.
 */
export const rolesOf = (container: Container, configuration: Configuration): Roles => {
  const parts = partsOf(container, configuration).filter(({ role }) => configuration.roles.includes(role));
  const clock = clockParts(container);
  if (!sharesStores(configuration))
    return { leased: [], free: [...clock, ...parts.map(({ make }) => make())] };
  const byLease = Map.groupBy(
    parts.filter(({ lease }) => lease !== undefined),
    ({ lease }) => lease!,
  );
  return {
    leased: [...byLease].map(([lease, of]) =>
      leasedRunner(
        container,
        lease,
        of.map(({ make }) => make()),
      ),
    ),
    free: [...clock, ...parts.filter(({ lease }) => lease === undefined).map(({ make }) => make())],
  };
};
