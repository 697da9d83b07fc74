import { eventSchemas } from '../../../application/publication/description/event-schemas.ts';
import { ref, schemasBelow } from '../../../application/schemas/schema.ts';
import type { Schema } from '../../../application/schemas/schema.ts';
import { valueSchemas } from '../../../application/schemas/values.ts';
import { errorSchemas } from '../openapi/responses.ts';
import type { Environment } from '../openapi/operation.ts';
import { addDocuments, readDocument } from './documents.ts';
import { assignLoan } from './assign-loan.ts';
import {
  readDescriptionAsJson,
  readDescriptionAsYaml,
  readReleasedDescription,
  readTopicsAsJson,
  readTopicsAsYaml,
  readGuide,
  readGuides,
  searchGuides,
  readReference,
  readReferenceAsset,
  readRoot,
} from './reference.ts';
import type { Endpoint } from '../operation.ts';
import { listEvents, listDeliveries, readEvent } from './events.ts';
import { listLoans, readLoan } from './read-loans.ts';
import { createWebhook, deleteWebhook, listWebhooks, readWebhook, updateWebhook } from './subscriptions.ts';
import {
  pauseWebhook,
  pingWebhook,
  redeliverEvent,
  resumeWebhook,
  rotateWebhookSecret,
  readRedelivery,
  redeliverWebhook,
} from './operate-webhooks.ts';
import { processPrepayment } from './process-prepayment.ts';
import { renegotiateLoans } from './renegotiate-loans.ts';
import { requestRepurchase } from './request-repurchase.ts';
import { decideInSandbox, moveSandboxClock, readSandboxClock } from './sandbox.ts';
import { readKeySet, readLiveness, readReadiness } from './service.ts';
import { settleBatch, settleInstallment } from './settle-installment.ts';
import { issueToken } from './token.ts';

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

/** What requests and answers consist of is published with them. */
export const schemasIn = (environment: Environment): Readonly<Record<string, Schema>> => ({
  ...valueSchemas,
  ...eventSchemas,
  ...errorSchemas,
  ...schemasBelow(
    operationsIn(environment).flatMap(({ body = [], success }) => [
      ...body.map(({ schema }) => ref(schema)),
      ...success.map(({ schema = {} }) => schema),
    ]),
  ),
});
