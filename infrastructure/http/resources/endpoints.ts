import { eventSchemas } from '../../../application/publishing/description/event-schemas.ts';
import type { Schema } from '../../../application/schemas/schema.ts';
import { valueSchemas } from '../../../application/schemas/values.ts';
import { errorSchemas } from '../openapi/responses.ts';
import type { Environment } from '../openapi/operation.ts';
import { addDocuments, filesSchemas } from './add-documents.ts';
import type { FilesUses } from './add-documents.ts';
import { assignLoan, assignmentSchemas } from './assign-loan.ts';
import type { AssignmentUses } from './assign-loan.ts';
import { backingDocumentSchemas } from './backing-documents.ts';
import { borrowerSchemas } from './borrower.ts';
import {
  readDescriptionAsJson,
  readDescriptionAsYaml,
  readReleasedDescription,
  readTopicsAsJson,
  readTopicsAsYaml,
} from './descriptions.ts';
import type { DescriptionUses } from './descriptions.ts';
import type { Endpoint } from './endpoint.ts';
import { listLoans, loanPageSchemas } from './list-loans.ts';
import type { LoanListUses } from './list-loans.ts';
import {
  createWebhook,
  deleteWebhook,
  listWebhooks,
  updateWebhook,
  webhookSchemas,
} from './manage-webhooks.ts';
import {
  pauseWebhook,
  pingWebhook,
  redeliverEvent,
  resumeWebhook,
  rotateWebhookSecret,
  webhookOperationSchemas,
} from './operate-webhooks.ts';
import { prepaymentSchemas, processPrepayment } from './process-prepayment.ts';
import type { PrepaymentUses } from './process-prepayment.ts';
import { readDocument } from './read-document.ts';
import type { DocumentUses } from './read-document.ts';
import { loanSchemas, readLoan } from './read-loan.ts';
import type { LoanReadUses } from './read-loan.ts';
import { readReference, readReferenceAsset, readRoot } from './reference.ts';
import type { ReferenceUses } from './reference.ts';
import { renegotiateLoans, renegotiationSchemas } from './renegotiate-loans.ts';
import type { RenegotiationUses } from './renegotiate-loans.ts';
import { repurchaseSchemas, requestRepurchase } from './request-repurchase.ts';
import type { RepurchaseUses } from './request-repurchase.ts';
import { moveSandboxClock, readSandboxClock, sandboxSchemas } from './sandbox-clock.ts';
import type { SandboxUses } from './sandbox-clock.ts';
import { scheduleSchemas } from './schedule.ts';
import { readKeySet, readLiveness, readReadiness, serviceSchemas } from './service.ts';
import type { ServiceUses } from './service.ts';
import { settleInstallment, settlementSchemas } from './settle-installment.ts';
import type { SettlementUses } from './settle-installment.ts';
import { issueToken, tokenSchemas } from './token.ts';
import type { TokenUses } from './token.ts';
import { deliverySchemas, listDeliveries, readEvent } from './webhook-deliveries.ts';
import type { WebhookUses } from './webhook.ts';

/** What the operations ask of the application. Refusals come as `DomainError`. */
export interface UseCases
  extends
    AssignmentUses,
    LoanListUses,
    LoanReadUses,
    DocumentUses,
    SettlementUses,
    PrepaymentUses,
    RepurchaseUses,
    FilesUses,
    RenegotiationUses,
    WebhookUses,
    SandboxUses {}

/** What all operations need. */
export interface Uses extends UseCases, TokenUses, ServiceUses, DescriptionUses, ReferenceUses {}

/** Everything that the service can be asked for, in the order of the description. */
export const OPERATIONS: readonly Endpoint<Uses>[] = [
  issueToken,
  ...[assignLoan, listLoans, readLoan, readDocument],
  ...[settleInstallment, processPrepayment, requestRepurchase, addDocuments, renegotiateLoans],
  ...[createWebhook, listWebhooks, updateWebhook, deleteWebhook],
  ...[pauseWebhook, resumeWebhook, rotateWebhookSecret, pingWebhook, redeliverEvent],
  ...[readEvent, listDeliveries],
  ...[readSandboxClock, moveSandboxClock],
  ...[
    readDescriptionAsJson,
    readDescriptionAsYaml,
    readReleasedDescription,
    readTopicsAsJson,
    readTopicsAsYaml,
  ],
  ...[readReference, readRoot, readReferenceAsset],
  ...[readKeySet, readLiveness, readReadiness],
];

/** What can be asked for in this environment. */
export const operationsIn = (environment: Environment): readonly Endpoint<Uses>[] =>
  environment === 'production'
    ? OPERATIONS.filter(({ sandboxOnly }) => !sandboxOnly)
    : OPERATIONS.map(({ parameters = [], sandboxParameters: more = [], ...spec }) => ({
        ...spec,
        ...(parameters.length + more.length > 0 && { parameters: [...parameters, ...more] }),
      }));

export const schemasIn = (environment: Environment): Readonly<Record<string, Schema>> => ({
  ...valueSchemas,
  ...borrowerSchemas,
  ...scheduleSchemas,
  ...backingDocumentSchemas,
  ...assignmentSchemas,
  ...loanSchemas,
  ...loanPageSchemas,
  ...settlementSchemas,
  ...prepaymentSchemas,
  ...repurchaseSchemas,
  ...filesSchemas,
  ...renegotiationSchemas,
  ...webhookSchemas,
  ...webhookOperationSchemas,
  ...deliverySchemas,
  ...(environment === 'sandbox' && sandboxSchemas),
  ...eventSchemas,
  ...errorSchemas,
  ...tokenSchemas,
  ...serviceSchemas,
});
