import type { ForgetBorrower } from '../../application/privacy/forget-borrower.ts';
import type { IndexBorrowers } from '../../application/privacy/index-borrowers.ts';

/** What forgetting a borrower needs of the service. */
export interface PrivacyServices {
  readonly indexing: Pick<IndexBorrowers, 'completeOnce'>;
  readonly forgetting: Pick<ForgetBorrower, 'find' | 'forget' | 'clearRefused'>;
  /** Takes what was deleted out of the store's own log; false when that has to wait, undefined where the engine sees to it. */
  scrub(): Promise<boolean | undefined>;
}
