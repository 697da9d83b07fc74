import { randomUUID } from 'node:crypto';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { FieldViolation } from '../../domain/shared/domain-error.ts';
import type { ClientCredentials } from '../ports/client-credentials.ts';
import type { ClientRegistry } from '../ports/client-registry.ts';
import type { Clock } from '../ports/clock.ts';

interface Dependencies {
  readonly registry: ClientRegistry;
  readonly credentials: ClientCredentials;
  readonly clock: Clock;
}

export interface CreateClientInput {
  readonly name: string;
  /** UUIDs, at least one; linked to the application beside those that it has. */
  readonly fundIds: readonly string[];
  /** An existing application, or the id that a new one shall have; default: a new one with a random id. */
  readonly applicationId?: string;
  /** Multiplies every rate limit of the application; default 1. */
  readonly rateLimitMultiplier?: number;
}
export interface CreatedClient {
  readonly clientId: string;
  /** The only time that it can be read. */
  readonly clientSecret: string;
  readonly applicationId: string;
  readonly fundIds: readonly string[];
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const NAME = /^[^\p{Cc}]{1,100}$/u;
/** Part of stream names, so without a dot. */
const APPLICATION_ID = /^[A-Za-z0-9_-]{1,64}$/;
const LARGEST_MULTIPLIER = 1000;

/** Gives an integrator access: a client of an application and the funds linked to it. */
export class CreateClient {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  /** @throws DomainError `validation_error` with every violation */
  async execute(input: CreateClientInput): Promise<CreatedClient> {
    const { registry, credentials, clock } = this.#deps;
    const fundIds = [...new Set(input.fundIds.map((id) => id.toLowerCase()))];
    requireValid({ ...input, fundIds });
    const { clientId, clientSecret, secretHash } = await credentials.issue();
    const application = await registry.create(
      {
        clientId,
        secretHash,
        applicationId: input.applicationId ?? randomUUID(),
        name: input.name.trim(),
        rateLimitMultiplier: input.rateLimitMultiplier ?? 1,
        createdAt: clock.now(),
        revokedAt: null,
      },
      fundIds,
    );
    return { clientId, clientSecret, ...application };
  }
}

const requireValid = (input: CreateClientInput): void => {
  const violations = [...violationsOf(input)];
  if (violations.length === 0) return;
  const messages = violations.map(({ message }) => message).join('; ');
  throw new DomainError('validation_error', messages, violations);
};

const violationsOf = function* (input: CreateClientInput): Generator<FieldViolation> {
  const { name, fundIds, applicationId, rateLimitMultiplier = 1 } = input;
  const invalid = (field: string, message: string): FieldViolation => ({ field, code: 'invalid', message });

  if (!NAME.test(name.trim())) yield invalid('name', 'name must be 1 to 100 printable characters');
  if (fundIds.length === 0) yield invalid('fund', 'at least one fund is needed');
  for (const id of fundIds) if (!UUID.test(id)) yield invalid('fund', `fund ${id} is not a UUID`);
  if (applicationId !== undefined && !APPLICATION_ID.test(applicationId)) {
    yield invalid('application', 'application must be 1 to 64 letters, digits, "_" or "-"');
  }
  if (!(rateLimitMultiplier > 0 && rateLimitMultiplier <= LARGEST_MULTIPLIER)) {
    yield invalid(
      'rate_limit_multiplier',
      `rate limit multiplier must be above 0 and at most ${LARGEST_MULTIPLIER}`,
    );
  }
};
