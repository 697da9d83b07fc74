import type { OperationPlace } from '../command-handling/operation.ts';
import type { FourEyesState } from '../../domain/fund/four-eyes.ts';
import type { Administrator } from '../administrator/administrator.ts';
import type { Confirmations } from '../administrator/confirmations.ts';
import type { Worklists } from '../administrator/worklists.ts';
import type { Audit } from '../audit/audit.ts';
import type { Verification } from '../audit/verification.ts';
import type { Clients } from '../clients/clients.ts';
import type { Desk as DeskModule } from '../desk/desk.ts';
import type { Funds } from '../funds/funds.ts';
import type { Exposure } from '../loans/decision-facts.ts';
import type { Loans } from '../loans/loans.ts';
import type { SearchOperations } from '../loans/search-operations.ts';
import type { Maintenance } from '../maintenance/maintenance.ts';
import type { Portfolio } from '../portfolio/portfolio.ts';
import type { Reconciliation } from '../reconciliation/reconciliation.ts';
import type { FundRules } from '../two-people/fund-rules.ts';
import type { Deliveries } from '../webhooks/deliveries.ts';
import type { Redeliveries } from '../webhooks/redeliveries.ts';
import type { WebhookDesk } from '../webhooks/webhook-desk.ts';
import type { Webhooks } from '../webhooks/webhooks.ts';
import type { Rights } from '../desk/rights.ts';

type ListNames = 'waiting' | 'worklist' | 'stillWaiting' | 'fallingDue' | 'overdue' | 'notified';
type DeliveryNames = 'page' | 'waiting' | 'event' | 'ofRecorded' | 'ping' | 'resend';

export interface Desk {
  readonly administrator: Pick<Administrator, 'found' | 'submitAll' | 'disbursementTolerance'> & {
    readonly confirmations: Pick<Confirmations, 'awaiting' | 'awaitsOn'>;
    readonly rules: Pick<FundRules, 'set'> & { current(): Promise<Pick<FourEyesState, 'rules'>> };
    readonly worklists: Pick<Worklists, ListNames>;
  };
  readonly audit: Pick<Audit, 'show' | 'anchor'> & {
    readonly background: Pick<Verification, 'run' | 'start' | 'cancel' | 'anchor'>;
  };
  readonly clients: Pick<Clients, 'funds' | 'applicationNames' | 'namesOf'>;
  readonly desk: Pick<DeskModule, 'lines'>;
  readonly funds: Pick<Funds, 'names' | 'find' | 'list' | 'name'>;
  readonly loans: Pick<Loans, 'read' | 'document' | 'applicationOf' | 'catchUp' | 'leftOut'> & {
    readonly facts: Pick<Loans['facts'], 'of' | 'reasons'> & {
      exposure(of: OperationPlace): Promise<Exposure | undefined>;
    };
    readonly search: Pick<SearchOperations, 'page' | 'every'>;
  };
  readonly maintenance: Pick<Maintenance, 'health'>;
  readonly portfolio: Pick<Portfolio, 'analyse' | 'held' | 'documentsOf'>;
  readonly reconciliation: Pick<Reconciliation, 'preview' | 'daysOf' | 'applicationsOf' | 'compare'>;
  readonly webhooks: Pick<Webhooks, 'find' | 'list'> & {
    readonly deliveries: Pick<Deliveries, DeliveryNames>;
    readonly desk: Pick<WebhookDesk, 'endpoints' | 'records'>;
    readonly redeliveries: Pick<Redeliveries, 'start' | 'find' | 'running'>;
  };
}

/** A fund that a person may not see, or that there is none of. */
export class UnknownFundError extends Error {
  override readonly name = 'UnknownFundError';
}

/** @throws UnknownFundError */
export const requireSeen = (rights: Rights, fundId: string): void => {
  if (!rights.has('see', fundId)) throw new UnknownFundError(`there is no fund ${fundId}`);
};

/** Stands for what a person may not know of a borrower. */
export const MASKED = '***';

export const masked = <Text extends string | null | undefined>(text: Text): Text =>
  (typeof text === 'string' && text !== '' ? MASKED : text) as Text;

/** An operation whose fund cannot be told belongs to who sees every fund. */
export const seesOperation = (rights: Rights, fundId: string | undefined): boolean =>
  fundId === undefined ? rights.within('see') === undefined : rights.has('see', fundId);

/** @returns what narrows a query to the funds in which a person has this right. @throws RoleError where it is none */
export const narrowedTo = (
  rights: Rights,
  right: Parameters<Rights['within']>[0],
): { readonly onlyFundIds?: readonly string[] } => {
  const onlyFundIds = rights.within(right);
  return onlyFundIds === undefined ? {} : { onlyFundIds };
};
