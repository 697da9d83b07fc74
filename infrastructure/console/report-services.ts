import type { ShowRequest } from '../../application/audit/show-operation.ts';
import type { ListedClient } from '../../application/clients/manage-clients.ts';
import type { DeliveryPage, DeliveryQuery } from '../../application/ports/delivery-log.ts';
import type { StatementFormat } from '../../application/ports/fund-reports.ts';
import type { WebhookDesk } from '../../application/ports/webhook-desk.ts';
import type { WebhookSubscription } from '../../application/ports/webhook-subscriptions.ts';
import type { EventReport, RedeliveryReceipt } from '../../application/ports/webhooks.ts';
import type { ReconciliationRequest } from '../../application/reconciliation/reconcile-statement.ts';
import type { Reconciliation } from '../../application/reconciliation/reconciliation.ts';
import type { KeptStatement, KeptStatements } from './kept-statements.ts';
import type { Verification } from './verification.ts';

/** Webhooks of every application. Whatever names one throws DomainError `webhook_not_found` when there is none. */
export interface WebhookPages {
  readonly desk: WebhookDesk;
  find(webhookId: string): Promise<WebhookSubscription>;
  deliveries(query: DeliveryQuery): Promise<DeliveryPage>;
  /** @throws DomainError `event_not_found` */
  event(webhookId: string, eventId: string, operator: string): Promise<EventReport>;
  /** @throws DomainError `event_not_found` `webhook_invalid_state` */
  resend(webhookId: string, eventId: string): Promise<void>;
  /** @throws DomainError `webhook_invalid_state` */
  ping(webhookId: string, operator: string): Promise<RedeliveryReceipt>;
  /** By the clock of the machine, which deliveries follow. */
  now(): string;
}

/** How a statement seems to be written, with its first records. */
export interface StatementPreview {
  readonly format: StatementFormat;
  readonly records: readonly (readonly string[])[];
}

export interface ReconciliationPages {
  readonly kept: KeptStatements;
  /** @param layout how it is cut into columns; a guess where it is not given */
  preview(
    bytes: Uint8Array,
    layout?: Pick<StatementFormat, 'encoding' | 'delimiter' | 'skipLines'>,
  ): StatementPreview;
  /** Whether an application is linked to it, or it holds an operation. */
  knowsFund(fundId: string): Promise<boolean>;
  /** With everything that was recorded before the call. @throws StatementError */
  compare(
    statement: Pick<KeptStatement, 'name' | 'bytes'>,
    format: StatementFormat,
    request: Omit<ReconciliationRequest, 'statement' | 'onProgress'>,
  ): Promise<Reconciliation>;
  /** As the command line writes it, what matched included. */
  written(result: Reconciliation, format: 'csv' | 'json'): AsyncIterable<string>;
}

export interface AuditPages {
  readonly verification: Verification;
  /** Seals the log up to now: the lines of a signed anchor. */
  sealed(): AsyncIterable<string>;
  /** An operation as `audit show` explains it: text for people, or JSON. @throws DomainError `loan_not_found`, or for several of this code */
  explained(
    request: Omit<ShowRequest, 'applicationId' | 'prices'> & { readonly applicationId?: string },
    format: 'table' | 'json',
  ): Promise<string>;
}

/** What the pages need that report: webhooks, reconciliation, audit. */
export interface ReportServices {
  readonly webhooks: WebhookPages;
  readonly reconciliation: ReconciliationPages;
  readonly audit: AuditPages;
  /** Every client there ever was, with the funds of its application. */
  clients(): Promise<readonly ListedClient[]>;
}
