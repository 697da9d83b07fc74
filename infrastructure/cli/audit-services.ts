import type { ShowOperation } from '../../application/audit/show-operation.ts';
import type { VerifyLog } from '../../application/audit/verify-log.ts';

/** What auditors need of the service. */
export interface AuditServices {
  readonly verification: Pick<VerifyLog, 'execute' | 'expectedEvents'>;
  readonly operations: Pick<ShowOperation, 'execute'>;
  /** The only application that has an operation of this code. */
  applicationOf(code: string): Promise<string>;
  /** Now, ISO 8601 UTC. */
  now(): string;
}
