import { DomainError } from '../../domain/shared/domain-error.ts';
import { RoleError } from '../desk/rights.ts';
import type { RetryPolicy } from '../support/retry.ts';

const mayPass = (error: unknown): boolean =>
  error instanceof DomainError ? error.code === 'concurrent_modification' : !(error instanceof RoleError);

/** For a person who waits: a store that is away, a renegotiation that is being decided may pass; refusals of the domain or of a role do not. */
export const PATIENTLY: RetryPolicy = { pausesMs: [100, 300, 1_000, 3_000], mayPass };
