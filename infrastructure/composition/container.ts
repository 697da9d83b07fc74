import { Container } from 'inversify';
import type { ServiceIdentifier } from 'inversify';
import type { CreateClient } from '../../application/clients/create-client.ts';
import type { LoanReading } from '../../application/loans/read-loan.ts';
import type { EventStream } from '../../application/publishing/event-stream.ts';
import type { OutboxRelay } from '../../application/publishing/outbox-relay.ts';
import type { SandboxClock } from '../../application/sandbox/sandbox-clock.ts';
import type { RateLimiter } from '../http/limits/rate-limiter.ts';
import type { TokenSigningKeys } from '../security/token-signing-keys.ts';
import { adapterArea } from './areas/adapters.ts';
import type { Adapters } from './areas/adapters.ts';
import { administratorArea } from './areas/administrator.ts';
import type { Administrator } from './areas/administrator.ts';
import { sealArea } from './areas/audit.ts';
import type { Seals } from './areas/audit.ts';
import { accessArea, createClientOf, rateLimiterOf } from './areas/clients.ts';
import type { Access } from './areas/clients.ts';
import { commandArea, loanArea, loanReading } from './areas/loans.ts';
import type { Commands, Loans } from './areas/loans.ts';
import { documentArea } from './areas/documents.ts';
import type { Documents } from './areas/documents.ts';
import { signingKeysOf } from './areas/keys.ts';
import { eventStreamOf, relayOf } from './areas/publishing.ts';
import { readModelArea } from './areas/read-models.ts';
import type { ReadModels } from './areas/read-models.ts';
import { sandboxClockOf, schedulingArea } from './areas/scheduling.ts';
import type { Scheduling } from './areas/scheduling.ts';
import { webhookArea } from './areas/webhooks.ts';
import type { Webhooks } from './areas/webhooks.ts';
import type { Foundations } from './foundations.ts';

const token = <T>(name: string): ServiceIdentifier<T> => Symbol(name);

export const TOKENS = {
  /** What is chosen at the start. */
  foundations: token<Foundations>('foundations'),
  adapters: token<Adapters>('adapters'),
  documents: token<Documents>('documents'),
  readModels: token<ReadModels>('readModels'),
  commands: token<Commands>('commands'),
  loans: token<Loans>('loans'),
  loanReading: token<LoanReading>('loanReading'),
  relay: token<OutboxRelay>('relay'),
  eventStream: token<EventStream>('eventStream'),
  webhooks: token<Webhooks>('webhooks'),
  administrator: token<Administrator>('administrator'),
  scheduling: token<Scheduling>('scheduling'),
  seals: token<Seals>('seals'),
  signingKeys: token<TokenSigningKeys>('signingKeys'),
  access: token<Access>('access'),
  createClient: token<CreateClient>('createClient'),
  rateLimiter: token<RateLimiter>('rateLimiter'),
  /** Undefined in production. */
  sandboxClock: token<SandboxClock | undefined>('sandboxClock'),
} as const;

/** What was chosen at the start, and the areas built from it: each is made once, when it is first asked for. */
export const createContainer = (chosen: Foundations): Container => {
  const container = new Container({ defaultScope: 'Singleton' });
  const { foundations, adapters, documents, commands, readModels, administrator, signingKeys } = TOKENS;
  container.bind(foundations).toConstantValue(chosen);
  container.bind(adapters).toResolvedValue(adapterArea, [foundations]);
  container.bind(documents).toResolvedValue(documentArea, [foundations, adapters]);
  container.bind(readModels).toResolvedValue(readModelArea, [foundations, adapters]);
  container.bind(commands).toResolvedValue(commandArea, [foundations, adapters]);
  container.bind(TOKENS.loans).toResolvedValue(loanArea, [foundations, adapters, commands, documents]);
  container
    .bind(TOKENS.loanReading)
    .toResolvedValue(loanReading, [foundations, adapters, readModels, documents]);
  container.bind(TOKENS.relay).toResolvedValue(relayOf, [foundations, adapters]);
  container.bind(TOKENS.eventStream).toResolvedValue(eventStreamOf, [foundations, adapters]);
  container.bind(TOKENS.webhooks).toResolvedValue(webhookArea, [foundations, adapters]);
  container.bind(administrator).toResolvedValue(administratorArea, [foundations, adapters, commands]);
  container
    .bind(TOKENS.scheduling)
    .toResolvedValue(schedulingArea, [foundations, adapters, commands, administrator]);
  container.bind(TOKENS.seals).toResolvedValue(sealArea, [foundations, adapters]);
  container.bind(signingKeys).toResolvedValue(signingKeysOf, [foundations, adapters]);
  container.bind(TOKENS.access).toResolvedValue(accessArea, [foundations, adapters, signingKeys]);
  container.bind(TOKENS.createClient).toResolvedValue(createClientOf, [foundations, adapters]);
  container.bind(TOKENS.rateLimiter).toResolvedValue(rateLimiterOf, [foundations]);
  container.bind(TOKENS.sandboxClock).toResolvedValue(sandboxClockOf, [foundations]);
  return container;
};
