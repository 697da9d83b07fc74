import { DomainError } from '../../domain/shared/domain-error.ts';
import type { RetryPolicy } from '../support/retry.ts';

/** For a person who waits: a store that is away, a renegotiation that is being decided may pass; refusals of the domain do not. */
export const PATIENTLY: RetryPolicy = {
  pausesMs: [100, 300, 1_000, 3_000],
  mayPass: (error) => !(error instanceof DomainError) || error.code === 'concurrent_modification',
};
