import { Container } from 'inversify';
import type { Clock } from '../../application/ports/clock.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { MasterKey } from '../security/master-key.ts';
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
import { allProjections } from './rebuild-module.ts';
import { renegotiationModule } from './renegotiation-module.ts';
import { LiveReadModel } from '../sql/live-read-model.ts';
import { TOKENS } from './tokens.ts';
import { webhookModule } from './webhook-module.ts';

export interface Foundations {
  readonly configuration: Configuration;
  readonly engines: Engines;
  readonly masterKey: MasterKey;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Default: nobody looks on. */
  readonly observability?: Observability;
}

/** Everything that the service is made of, each made once, when it is first asked for. */
export const createContainer = ({
  configuration,
  engines,
  masterKey,
  clock,
  logger,
  observability = UNOBSERVED,
}: Foundations): Container => {
  const container = new Container({ defaultScope: 'Singleton' });
  container.bind(TOKENS.configuration).toConstantValue(configuration);
  container.bind(TOKENS.logger).toConstantValue(logger);
  container.bind(TOKENS.observability).toConstantValue(observability);
  container.bind(TOKENS.clock).toConstantValue(clock);
  container.bind(TOKENS.masterKey).toConstantValue(masterKey);
  container.bind(TOKENS.eventStore).toConstantValue(engines.eventStore);
  container.bind(TOKENS.eventSubscription).toConstantValue(engines.eventStore);
  container.bind(TOKENS.eventBus).toConstantValue(engines.eventBus);
  container.bind(TOKENS.serviceDatabase).toConstantValue(engines.serviceDatabase);
  container.bind(TOKENS.readModelTables).toConstantValue(engines.readModelDatabase);
  container
    .bind(TOKENS.readModelDatabase)
    .toConstantValue(new LiveReadModel(engines.readModelDatabase, allProjections));
  container.load(
    infrastructureModule,
    applicationModule,
    administratorModule,
    coordinationModule,
    fundSideModule,
    postAssignmentModule,
    renegotiationModule,
    webhookModule,
  );
  return container;
};
