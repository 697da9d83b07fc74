import type { Container } from 'inversify';
import { ListClients, RevokeClient, UpdateClient } from '../../application/clients/manage-clients.ts';
import { FollowerPlaces } from '../../application/coordination/follower-places.ts';
import type { CliServices } from '../cli/cli-services.ts';
import { administratorServices } from './areas/administrator.ts';
import { auditServices } from './areas/audit.ts';
import { fundSideServices } from './areas/fund-side.ts';
import { keyServices } from './areas/keys.ts';
import { loanServices } from './areas/loans.ts';
import { privacyServices } from './areas/privacy.ts';
import { quarantinedOperations } from './areas/quarantine.ts';
import { projectionsServices } from './areas/read-models.ts';
import { statusOf } from './areas/status.ts';
import { lateEventServices } from './areas/late-events.ts';
import { topicServices } from './areas/topics.ts';
import { forwarderTo, webhookRecovery } from './areas/webhooks.ts';
import { TOKENS } from './container.ts';

/** What the commands of the command line call. */
export const commandLineServices = (container: Container): CliServices => {
  const foundations = container.get(TOKENS.foundations);
  const adapters = container.get(TOKENS.adapters);
  const commands = container.get(TOKENS.commands);
  const readModels = container.get(TOKENS.readModels);
  const { clientRegistry, formats } = adapters;
  return {
    createClient: container.get(TOKENS.createClient),
    listClients: new ListClients(clientRegistry),
    updateClient: new UpdateClient(clientRegistry),
    revokeClient: new RevokeClient(clientRegistry, foundations.realClock),
    loans: loanServices(foundations, adapters, readModels, container.get(TOKENS.loanReading)),
    status: statusOf(foundations, adapters),
    forwarder: (url) => forwarderTo(url, foundations.configuration),
    keys: keyServices(foundations, adapters, container.get(TOKENS.signingKeys)),
    webhooks: webhookRecovery(foundations),
    administrator: administratorServices(foundations, adapters, container.get(TOKENS.administrator)),
    events: container.get(TOKENS.eventStream),
    fundSide: fundSideServices(foundations, readModels),
    privacy: privacyServices(foundations, adapters, commands, container.get(TOKENS.documents)),
    projections: projectionsServices(foundations),
    audit: auditServices(foundations, adapters, readModels, container.get(TOKENS.seals)),
    quarantine: quarantinedOperations(
      foundations,
      adapters,
      commands.renegotiation,
      container.get(TOKENS.scheduling),
    ),
    followers: new FollowerPlaces(adapters.checkpoints, foundations.engines.eventStore),
    topics: topicServices(foundations),
    lateEvents: lateEventServices(foundations, adapters),
    upgrade: formats,
    sandboxClock: container.get(TOKENS.sandboxClock),
    close: () => foundations.engines.close(),
  };
};
