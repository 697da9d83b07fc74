import type { Administrator } from './administrator/administrator.ts';
import type { Audit } from './audit/audit.ts';
import type { Clients } from './clients/clients.ts';
import type { Desk } from './desk/desk.ts';
import type { Funds } from './funds/funds.ts';
import type { Loans } from './loans/loans.ts';
import type { Maintenance } from './maintenance/maintenance.ts';
import type { Portfolio } from './portfolio/portfolio.ts';
import type { Privacy } from './privacy/privacy.ts';
import type { Publication } from './publication/publication.ts';
import type { Reconciliation } from './reconciliation/reconciliation.ts';
import type { Renegotiation } from './renegotiation/renegotiation.ts';
import type { Webhooks } from './webhooks/webhooks.ts';

export interface App {
  readonly administrator: Administrator;
  readonly audit: Audit;
  readonly clients: Clients;
  readonly desk: Desk;
  readonly funds: Funds;
  readonly loans: Loans;
  readonly maintenance: Maintenance;
  readonly portfolio: Portfolio;
  readonly privacy: Privacy;
  readonly publication: Publication;
  readonly reconciliation: Reconciliation;
  readonly renegotiation: Renegotiation;
  readonly webhooks: Webhooks;
}
