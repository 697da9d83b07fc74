import type { Parts } from './parts.ts';
import { recordDecisions } from '../../application/administrator/answers.ts';
import type { DecisionAnswer } from '../../application/administrator/answers.ts';
import { running, together } from '../../application/coordination/background.ts';
import type { Background } from '../../application/coordination/background.ts';
import { LeasedRunner } from '../../application/coordination/leased-runner.ts';
import { pause } from '../support/time.ts';
import type { Role } from './configuration.ts';
import { newHolder, sharesStores } from './engines.ts';
import { keepServing } from './read-models.ts';

const ATTEMPT_GRACE_MS = 2_000;

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
  const part = (
    name: string,
    run: (scheduling: Parts['scheduling'], signal: AbortSignal) => Promise<void>,
  ): RolePart => ({
    role: 'scheduler',
    lease: 'scheduler',
    make: () => running(name, (signal) => run(parts.scheduling, signal)),
  });
  return [
    part('overdue scheduler', ({ overdue }, signal) => overdue(signal)),
    part('renegotiation recovery', ({ recovery }, signal) => recovery.run(signal)),
    part('log sealer', (_, signal) => parts.audit.seal(signal)),
    part('renegotiation completion', ({ completion }, signal) => completion.run(signal)),
    ...(parts.configuration.environment === 'sandbox'
      ? [part('sandbox administrator', (_, signal) => parts.administrator.sandbox!.run(signal))]
      : []),
  ];
};

/** Who decides where a decision of the topic names nobody. */
const NOBODY_NAMED = 'administrator';

/** Carries out the decisions of the topic; without a lease, because the consumer group gives every process its share. */
const decisionParts = (parts: Parts): readonly RolePart[] => {
  const { kafka, logger } = parts;
  if (!kafka) return [];
  const consume = async (signal: AbortSignal): Promise<void> => {
    const { KafkaDecisionTopics } = await import('../kafka/kafka-decision-topics.ts');
    const topics = new KafkaDecisionTopics(kafka);
    const { administrator, desk } = parts;
    try {
      await topics.run(async (received) => {
        const record = (answers: readonly DecisionAnswer[]) =>
          recordDecisions(desk, { way: 'topic', name: NOBODY_NAMED }, answers);
        await administrator.process(received, { deadLetters: topics, logger, record });
      }, signal);
    } finally {
      await topics.close();
    }
  };
  return [{ role: 'scheduler', make: () => running('administrator decisions', consume) }];
};

/** Processes that write read models of other versions write into other tables, so each of the two kinds has one at work. */
const projectorLease = ({ generations }: Parts): string =>
  `projector ${generations.projections.map(({ name, version }) => `${name}.${version}`).join(' ')}`;

const projectorParts = (parts: Parts): readonly RolePart[] => {
  const { generations, eventStore: log, logger } = parts;
  const keeper = () =>
    running('read model keeper', (signal) => keepServing({ generations, log, logger, signal }));
  return [keeper, ...parts.readModels.projectors.map((projector) => () => projector)].map((make) => ({
    ...{ role: 'projector', lease: 'projector' },
    make,
  }));
};

const webhooksOf = ({ sending }: Parts): Background => ({
  name: 'webhooks',
  start: () => void sending.worker.start(),
  stop: () => sending.worker.stop(ATTEMPT_GRACE_MS),
});

const workOf = (parts: Parts): readonly RolePart[] => [
  { role: 'webhooks', make: () => webhooksOf(parts) },
  ...projectorParts(parts),
  { role: 'relay', lease: 'relay', make: () => parts.relay },
  ...schedulerParts(parts),
  ...decisionParts(parts),
];

const leasedRunner = (parts: Parts, lease: string, inner: readonly Background[]): LeasedRunner =>
  new LeasedRunner({
    lease: lease === 'projector' ? projectorLease(parts) : lease,
    holder: newHolder(),
    leases: parts.leases,
    inner: together(lease, inner),
    logger: parts.logger,
    sleep: pause,
    now: () => performance.now(),
  });

/** Every process and thread that may append; of a sandbox each follows the clock, too, because another one may move it. */
const always = ({ sandboxClock: clock, logFit }: Parts): readonly Background[] => [
  ...(clock ? [running('sandbox clock', (signal) => clock.follow(signal))] : []),
  running('fit of the log', (signal) => logFit.watch(signal)),
];

/**
 * What this process runs beside the requests. Leases are for processes that share a database; alone, a process that died would
 * only have to wait for its own lease to end. Everything here is safe without them, and merely wasteful when it runs twice.
 */
export const rolesOf = (parts: Parts): Roles => {
  const { configuration } = parts;
  const work = workOf(parts).filter(({ role }) => configuration.roles.includes(role));
  const shares = sharesStores(configuration);
  const byLease = Map.groupBy(work, ({ lease }) => (shares ? lease : undefined));
  const made = (of: readonly RolePart[] = []) => of.map(({ make }) => make());
  return {
    leased: [...byLease].flatMap(([lease, of]) =>
      lease === undefined ? [] : [leasedRunner(parts, lease, made(of))],
    ),
    free: [...always(parts), ...made(byLease.get(undefined))],
  };
};
