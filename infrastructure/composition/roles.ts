import type { Parts } from './parts.ts';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { running, together } from '../../application/coordination/background.ts';
import type { Background } from '../../application/coordination/background.ts';
import { LeasedRunner } from '../../application/coordination/leased-runner.ts';
import { pause } from '../support/time.ts';
import { decisionConsumer } from './decision-consumer.ts';
import type { Role } from './configuration.ts';
import type { Foundations } from './foundations.ts';
import { sharesStores } from './engines.ts';
import { keepServing } from './serving-generation.ts';

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

const schedulerParts = (parts: Parts): readonly RolePart[] => {
  const { configuration } = parts.foundations;
  const part = (
    name: string,
    run: (scheduling: Parts['scheduling'], signal: AbortSignal) => Promise<void>,
  ): RolePart => ({
    role: 'scheduler',
    lease: 'scheduler',
    make: () => running(name, (signal) => run(parts.scheduling, signal)),
  });
  return [
    part('overdue scheduler', ({ overdue }, signal) => overdue.run(signal)),
    part('renegotiation recovery', ({ recovery }, signal) => recovery.run(signal)),
    part('log sealer', (_, signal) => parts.app.audit.seal(signal)),
    part('renegotiation completion', ({ completion }, signal) => completion.run(signal)),
    ...(configuration.environment === 'sandbox'
      ? [part('sandbox administrator', (_, signal) => parts.administrator.sandbox!.run(signal))]
      : []),
  ];
};

/** Without a lease: the consumer group gives every process its share. */
const decisionParts = (parts: Parts): readonly RolePart[] => {
  const { foundations } = parts;
  const { kafka } = foundations.configuration;
  if (!kafka) return [];
  return [
    {
      role: 'scheduler',
      make: () => decisionConsumer(foundations, parts.app, kafka),
    },
  ];
};

/** Processes that write read models of other versions write into other tables, so each of the two kinds has one at work. */
const projectorLease = ({ engines }: Foundations): string =>
  `projector ${engines.projections.map(({ name, version }) => `${name}.${version}`).join(' ')}`;

const projectorParts = (parts: Parts): readonly RolePart[] => {
  const { engines, logger } = parts.foundations;
  const { projectors } = parts.readModels;
  const part = (projector: Background): RolePart => ({
    role: 'projector',
    lease: 'projector',
    make: () => projector,
  });
  return [
    {
      role: 'projector',
      lease: 'projector',
      make: () =>
        running('read model keeper', (signal) =>
          keepServing({ generations: engines.generations, log: engines.eventStore, logger, signal }),
        ),
    },
    ...projectors.map(part),
  ];
};

const workOf = (parts: Parts): readonly RolePart[] => [
  {
    role: 'webhooks',
    make: () => {
      const { worker } = parts.webhooks;
      return {
        name: 'webhooks',
        start: () => void worker.start(),
        stop: () => worker.stop(ATTEMPT_GRACE_MS),
      };
    },
  },
  ...projectorParts(parts),
  {
    role: 'relay',
    lease: 'relay',
    make: () => parts.relay,
  },
  ...schedulerParts(parts),
  ...decisionParts(parts),
];

const leasedRunner = (parts: Parts, lease: string, inner: readonly Background[]): LeasedRunner =>
  new LeasedRunner({
    lease: lease === 'projector' ? projectorLease(parts.foundations) : lease,
    holder: `${hostname()} ${process.pid} ${randomUUID()}`,
    leases: parts.leases,
    inner: together(lease, inner),
    logger: parts.foundations.logger,
    sleep: pause,
    now: () => performance.now(),
  });

/** Every process and thread of a sandbox follows the clock, because another one may move it. */
const clockParts = (parts: Parts): readonly Background[] => {
  const { sandboxClock: clock } = parts;
  return clock ? [running('sandbox clock', (signal) => clock.follow(signal))] : [];
};

/** Every process and thread that may append. */
const fitParts = (parts: Parts): readonly Background[] => {
  const { engines } = parts.foundations;
  return [running('fit of the log', (signal) => engines.logFit.watch(signal))];
};

/**
 * What this process runs beside the requests. Leases are for processes that share a database; alone, a process that died would
 * only have to wait for its own lease to end. Everything here is safe without them, and merely wasteful when it runs twice.
 */
export const rolesOf = (parts: Parts): Roles => {
  const { configuration } = parts.foundations;
  const work = workOf(parts).filter(({ role }) => configuration.roles.includes(role));
  const always = [...clockParts(parts), ...fitParts(parts)];
  if (!sharesStores(configuration))
    return { leased: [], free: [...always, ...work.map(({ make }) => make())] };
  const byLease = Map.groupBy(
    work.filter(({ lease }) => lease !== undefined),
    ({ lease }) => lease!,
  );
  return {
    leased: [...byLease].map(([lease, of]) =>
      leasedRunner(
        parts,
        lease,
        of.map(({ make }) => make()),
      ),
    ),
    free: [...always, ...work.filter(({ lease }) => lease === undefined).map(({ make }) => make())],
  };
};
