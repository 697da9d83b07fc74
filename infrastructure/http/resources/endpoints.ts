import { eventSchemas } from '../../../application/publication/description/event-schemas.ts';
import type { Schema } from '../../../application/schemas/schema.ts';
import { valueSchemas } from '../../../application/schemas/values.ts';
import { errorSchemas } from '../openapi/responses.ts';
import type { Environment } from '../openapi/operation.ts';
import { addDocuments, filesSchemas } from './add-documents.ts';
import { assignLoan, assignmentSchemas } from './assign-loan.ts';
import { backingDocumentSchemas } from './backing-documents.ts';
import { borrowerSchemas } from './borrower.ts';
import {
  readDescriptionAsJson,
  readDescriptionAsYaml,
  readReleasedDescription,
  readTopicsAsJson,
  readTopicsAsYaml,
} from './descriptions.ts';
import type { Endpoint } from '../operation.ts';
import { readGuide, readGuides, searchGuides, readReference, readReferenceAsset, readRoot } from './pages.ts';
import { feedSchemas, listEvents } from './list-events.ts';
import { listLoans, loanSchemas, readLoan } from './read-loans.ts';
import {
  createWebhook,
  deleteWebhook,
  listWebhooks,
  readWebhook,
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
import { readDocument } from './read-document.ts';
import { readRedelivery, rangeRedeliverySchemas, redeliverWebhook } from './redeliver-webhook.ts';
import { renegotiateLoans, renegotiationSchemas } from './renegotiate-loans.ts';
import { repurchaseSchemas, requestRepurchase } from './request-repurchase.ts';
import { decideInSandbox, moveSandboxClock, readSandboxClock, sandboxSchemas } from './sandbox.ts';
import { scheduleSchemas } from './schedule.ts';
import { readKeySet, readLiveness, readReadiness, serviceSchemas } from './service.ts';
import { settleBatch, settlementBatchSchemas } from './settle-batch.ts';
import { settleInstallment, settlementSchemas } from './settle-installment.ts';
import { issueToken, tokenSchemas } from './token.ts';
import { deliverySchemas, listDeliveries, readEvent } from './webhook-deliveries.ts';

export const OPERATIONS: readonly Endpoint[] = [
  issueToken,
  ...[assignLoan, listLoans, readLoan, readDocument],
  ...[settleInstallment, settleBatch, processPrepayment, requestRepurchase, addDocuments, renegotiateLoans],
  ...[createWebhook, listWebhooks, readWebhook, updateWebhook, deleteWebhook],
  ...[pauseWebhook, resumeWebhook, rotateWebhookSecret, pingWebhook, redeliverEvent],
  ...[listEvents, readEvent, listDeliveries, redeliverWebhook, readRedelivery],
  ...[readSandboxClock, moveSandboxClock, decideInSandbox],
  ...[
    readDescriptionAsJson,
    readDescriptionAsYaml,
    readReleasedDescription,
    readTopicsAsJson,
    readTopicsAsYaml,
  ],
  ...[readReference, readRoot, readReferenceAsset, readGuides, readGuide, searchGuides],
  ...[readKeySet, readLiveness, readReadiness],
];

export const operationsIn = (environment: Environment): readonly Endpoint[] =>
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
  ...settlementSchemas,
  ...settlementBatchSchemas,
  ...prepaymentSchemas,
  ...repurchaseSchemas,
  ...filesSchemas,
  ...renegotiationSchemas,
  ...webhookSchemas,
  ...webhookOperationSchemas,
  ...deliverySchemas,
  ...rangeRedeliverySchemas,
  ...feedSchemas,
  ...(environment === 'sandbox' && sandboxSchemas),
  ...eventSchemas,
  ...errorSchemas,
  ...tokenSchemas,
  ...serviceSchemas,
});
