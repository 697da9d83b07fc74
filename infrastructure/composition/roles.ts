import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Container } from 'inversify';
import { running, together } from '../../application/coordination/background.ts';
import type { Background } from '../../application/coordination/background.ts';
import { LeasedRunner } from '../../application/coordination/leased-runner.ts';
import type { Projector } from '../../application/projecting/projector.ts';
import { pause } from '../support/time.ts';
import { decisionConsumer } from './areas/administrator.ts';
import type { Scheduling } from './areas/scheduling.ts';
import type { Role } from './configuration.ts';
import { TOKENS } from './container.ts';
import type { Foundations } from './foundations.ts';
import { sharesStores } from './engines.ts';

const ATTEMPT_GRACE_MS = 2_000;

/** What a process of the service runs beside the requests. */
export interface Roles {
  /** One process of all at a time runs each of these. */
  readonly leased: readonly LeasedRunner[];
  readonly free: readonly Background[];
}

interface RolePart {
  readonly role: Role;
  /** One process of all runs the parts of a lease; without one, as many as have the role. */
  readonly lease?: string;
  readonly make: () => Background;
}

const schedulerParts = (container: Container): readonly RolePart[] => {
  const { configuration } = container.get(TOKENS.foundations);
  const part = (
    name: string,
    run: (scheduling: Scheduling, signal: AbortSignal) => Promise<void>,
  ): RolePart => ({
    role: 'scheduler',
    lease: 'scheduler',
    make: () => running(name, (signal) => run(container.get(TOKENS.scheduling), signal)),
  });
  return [
    part('overdue scheduler', ({ overdue }, signal) => overdue.run(signal)),
    part('renegotiation recovery', ({ recovery }, signal) => recovery.run(signal)),
    part('log sealer', (_, signal) => container.get(TOKENS.seals).sealLog.run(signal)),
    part('renegotiation completion', ({ completion }, signal) => completion.run(signal)),
    ...(configuration.environment === 'sandbox'
      ? [
          part('sandbox administrator', ({ sandboxAdministrator }, signal) =>
            sandboxAdministrator.run(signal),
          ),
        ]
      : []),
  ];
};

/** Without a lease: the consumer group gives every process its share. */
const decisionParts = (container: Container): readonly RolePart[] => {
  const foundations = container.get(TOKENS.foundations);
  const { kafka } = foundations.configuration;
  if (!kafka) return [];
  return [
    {
      role: 'scheduler',
      make: () => decisionConsumer(foundations, container.get(TOKENS.administrator), kafka),
    },
  ];
};

/** Processes that write read models of other versions write into other tables, so each of the two kinds has one at work. */
const projectorLease = ({ engines }: Foundations): string =>
  `projector ${engines.projections.map(({ name, version }) => `${name}.${version}`).join(' ')}`;

const projectorParts = (container: Container): readonly RolePart[] => {
  const { loanProjector, fundSideProjectors } = container.get(TOKENS.readModels);
  const part = (name: string, projector: Pick<Projector, 'start' | 'stop' | 'status'>): RolePart => ({
    role: 'projector',
    lease: 'projector',
    make: () => ({
      name,
      start: () => projector.start(),
      stop: () => projector.stop(),
      isStuck: () => projector.status().state === 'halted',
    }),
  });
  return [
    part('projector', loanProjector),
    ...fundSideProjectors.map((projector) => part(`${projector.status().projection} projector`, projector)),
  ];
};

const partsOf = (container: Container): readonly RolePart[] => [
  {
    role: 'webhooks',
    make: () => {
      const { worker } = container.get(TOKENS.webhooks);
      return {
        name: 'webhooks',
        start: () => void worker.start(),
        stop: () => worker.stop(ATTEMPT_GRACE_MS),
      };
    },
  },
  ...projectorParts(container),
  {
    role: 'relay',
    lease: 'relay',
    make: () => {
      const relay = container.get(TOKENS.relay);
      return { name: 'relay', start: () => relay.start(), stop: () => relay.stop() };
    },
  },
  ...schedulerParts(container),
  ...decisionParts(container),
];

const leasedRunner = (container: Container, lease: string, parts: readonly Background[]): LeasedRunner =>
  new LeasedRunner({
    lease: lease === 'projector' ? projectorLease(container.get(TOKENS.foundations)) : lease,
    holder: `${hostname()} ${process.pid} ${randomUUID()}`,
    leases: container.get(TOKENS.adapters).leases,
    inner: together(lease, parts),
    logger: container.get(TOKENS.foundations).logger,
    sleep: pause,
    now: () => performance.now(),
  });

/** Every process and thread of a sandbox follows the clock, because another one may move it. */
const clockParts = (container: Container): readonly Background[] => {
  const clock = container.get(TOKENS.sandboxClock);
  return clock ? [running('sandbox clock', (signal) => clock.follow(signal))] : [];
};

/**
 * What this process runs beside the requests. Leases are for processes that share a database; alone, a process that died would
 * only have to wait for its own lease to end. Everything here is safe without them, and merely wasteful when it runs twice.
 */
export const rolesOf = (container: Container): Roles => {
  const { configuration } = container.get(TOKENS.foundations);
  const parts = partsOf(container).filter(({ role }) => configuration.roles.includes(role));
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
