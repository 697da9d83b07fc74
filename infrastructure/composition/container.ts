import { Container } from 'inversify';
import type { BusinessClock, RealClock } from '../../application/ports/clock.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { MovableClock } from '../../application/sandbox/movable-clock.ts';
import { OwnWrites, noting } from '../../application/loans/own-writes.ts';
import { administratorModule } from './administrator-module.ts';
import { applicationModule } from './application-module.ts';
import { coordinationModule } from './coordination-module.ts';
import type { Configuration } from './configuration.ts';
import type { Engines } from './engines.ts';
import { fundSideModule } from './fund-side-module.ts';
import { infrastructureModule } from './infrastructure-module.ts';
import { UNOBSERVED } from './observability.ts';
import type { Observability } from './observability.ts';
import { postAssignmentModule } from './post-assignment-module.ts';
import { renegotiationModule } from './renegotiation-module.ts';
import { sealModule } from './seal-module.ts';
import type { ServiceKeys } from './service-keys.ts';
import { TOKENS } from './tokens.ts';
import type { OnQueued } from './tokens.ts';
import { webhookModule } from './webhook-module.ts';

export interface Foundations {
  readonly configuration: Configuration;
  readonly engines: Engines;
  readonly keys: ServiceKeys;
  readonly clock: BusinessClock;
  readonly realClock: RealClock;
  /** The business clock where it can be moved: in a sandbox. */
  readonly movableClock?: MovableClock;
  readonly logger: Logger;
  /** Default: nobody looks on. */
  readonly observability?: Observability;
  /** Wakes whatever sends the deliveries that a request has queued; default: what sends them here. */
  readonly onQueued?: OnQueued;
}

/** Everything that the service is made of, each made once, when it is first asked for. */
export const createContainer = ({
  configuration,
  engines,
  keys,
  clock,
  realClock,
  movableClock,
  logger,
  observability = UNOBSERVED,
  onQueued,
}: Foundations): Container => {
  const container = new Container({ defaultScope: 'Singleton' });
  container.bind(TOKENS.configuration).toConstantValue(configuration);
  container.bind(TOKENS.logger).toConstantValue(logger);
  container.bind(TOKENS.observability).toConstantValue(observability);
  container.bind(TOKENS.clock).toConstantValue(clock);
  container.bind(TOKENS.realClock).toConstantValue(realClock);
  container.bind(TOKENS.movableClock).toConstantValue(movableClock);
  container.bind(TOKENS.onQueued).toConstantValue(onQueued);
  container.bind(TOKENS.keys).toConstantValue(keys);
  const writes = new OwnWrites();
  container.bind(TOKENS.ownWrites).toConstantValue(writes);
  container.bind(TOKENS.eventStore).toConstantValue(noting(engines.eventStore, writes));
  container.bind(TOKENS.eventSubscription).toConstantValue(engines.eventStore);
  container.bind(TOKENS.eventBus).toConstantValue(engines.eventBus);
  container.bind(TOKENS.serviceDatabase).toConstantValue(engines.serviceDatabase);
  container.bind(TOKENS.readModelDatabase).toConstantValue(engines.readModelDatabase);
  container.bind(TOKENS.generations).toConstantValue(engines.generations);
  container.load(
    infrastructureModule,
    applicationModule,
    administratorModule,
    coordinationModule,
    fundSideModule,
    postAssignmentModule,
    renegotiationModule,
    sealModule,
    webhookModule,
  );
  return container;
};
