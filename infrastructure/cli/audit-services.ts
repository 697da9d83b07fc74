import type { ShowOperation } from '../../application/audit/show-operation.ts';
import type { AnchorSigner } from '../../application/ports/audit.ts';
import type { SealPlace } from '../../application/seals/check-seals.ts';
import type { VerifyLog } from '../../application/audit/verify-log.ts';

/** What auditors need of the service. */
export interface AuditServices {
  readonly signer: AnchorSigner;
  /** Seals all that is there and answers the end of the seal book. @throws DifferencesFoundError the book is not what was written */
  sealNow(): Promise<SealPlace>;
  readonly verification: Pick<VerifyLog, 'execute' | 'expectedEvents'>;
  readonly operations: Pick<ShowOperation, 'execute'>;
  /** The only application that has an operation of this code. */
  applicationOf(code: string): Promise<string>;
  /** Now, ISO 8601 UTC. */
  now(): string;
}
