import type { App } from '../../application/app.ts';
import type { Publication } from '../../application/publication/publication.ts';
import type { SandboxClock } from '../../application/maintenance/sandbox/sandbox-clock.ts';
import type { RateLimiter } from '../http/limits/rate-limiter.ts';
import type { TokenSigningKeys } from '../security/token-signing-keys.ts';
import type { Adapters } from './areas/adapters.ts';
import type { Administrator } from '../../application/administrator/administrator.ts';
import type { Access } from './areas/clients.ts';
import type { Commands } from './areas/loans.ts';
import type { Documents } from './areas/documents.ts';
import type { relayOf } from './publication.ts';
import type { ReadModels } from './areas/read-models.ts';
import type { Scheduling } from './areas/scheduling.ts';
import type { webhooksOf } from './webhooks.ts';
import type { Foundations } from './foundations.ts';

/** What a thread of the service consists of: each part is made once, when it is first asked for. */
export interface Parts {
  /** What is chosen at the start. */
  readonly foundations: Foundations;
  readonly adapters: Adapters;
  readonly documents: Documents;
  readonly readModels: ReadModels;
  readonly commands: Commands;
  readonly relay: ReturnType<typeof relayOf>;
  readonly publication: Publication;
  readonly webhooks: ReturnType<typeof webhooksOf>;
  readonly administrator: Administrator;
  readonly scheduling: Scheduling;
  readonly signingKeys: TokenSigningKeys;
  readonly access: Access;
  readonly app: App;
  readonly rateLimiter: RateLimiter;
  /** Undefined in production. */
  readonly sandboxClock: SandboxClock | undefined;
}
