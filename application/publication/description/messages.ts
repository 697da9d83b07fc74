import { eventExample, eventSchemaName } from './event-schemas.ts';
import { object, ref } from '../../schemas/schema.ts';
import type { Schema } from '../../schemas/schema.ts';
import { operationKey } from '../bus-message.ts';
import { EXAMPLE_OPERATION, LOAN_EVENT_NAMES, LOAN_EVENTS, SCHEMA_VERSION, TOPICS } from '../catalogue.ts';
import type { LoanEventName } from '../catalogue.ts';

const operation = {
  application_id: EXAMPLE_OPERATION.applicationId,
  originator_proposal_code: EXAMPLE_OPERATION.code,
};

const decisionExamples = [
  {
    summary: 'The operation meets the criteria',
    payload: {
      decision_id: '7b0a7c0e-3a58-4d6f-8f5e-0f6f4f1f6f11',
      ...operation,
      decision: 'approve',
      decided_at: '2026-01-15T12:00:00Z',
      note: 'Committee of 15 January',
    },
  },
  {
    summary: 'The operation is turned down',
    payload: {
      decision_id: 'D-2026-0002',
      ...operation,
      decision: 'reject',
      reasons: [{ code: 'concentration_limit', message: 'The fund holds too much of this borrower' }],
    },
  },
  {
    summary: 'The term is signed',
    payload: { decision_id: 'D-2026-0003', ...operation, decision: 'sign_term' },
  },
  {
    summary: 'The fund paid',
    payload: {
      decision_id: 'D-2026-0004',
      ...operation,
      decision: 'disburse',
      disbursement_date: '2026-01-15',
      disbursed_value: 1800.0,
      expected_status: 'term_signed',
      operator: 'ana.souza',
    },
  },
  {
    summary: 'A repurchase is through',
    payload: { decision_id: 'D-2026-0005', ...operation, decision: 'process_repurchase' },
  },
] as const;

const refusedDecisionExample = {
  decision_id: 'D-2026-0004',
  origin: `${TOPICS.decisions}/3@4711`,
  text: JSON.stringify(decisionExamples[3].payload),
  reason: {
    code: 'operation_invalid_state',
    message: `operation ${EXAMPLE_OPERATION.code} is approved; its term has to be signed before the disbursement`,
    details: [],
  },
  refused_at: '2026-01-15T12:00:01.000Z',
};

const confirmationExamples = [
  {
    summary: 'A second person agrees',
    payload: {
      decision_id: 'D-2026-0006',
      decision: 'confirm',
      first_decision_id: '7b0a7c0e-3a58-4d6f-8f5e-0f6f4f1f6f11',
      operator: 'bruno.lima',
    },
  },
  {
    summary: 'It is taken back',
    payload: {
      decision_id: 'D-2026-0007',
      decision: 'withdraw',
      first_decision_id: '7b0a7c0e-3a58-4d6f-8f5e-0f6f4f1f6f11',
      operator: 'ana.souza',
    },
  },
] as const;

const KEY: Schema = {
  type: 'string',
  description: 'Application id, a dot, originator_proposal_code: messages of one key stay in order.',
  examples: [operationKey(EXAMPLE_OPERATION.applicationId, EXAMPLE_OPERATION.code)],
};
const VERSION: Schema = {
  type: 'string',
  const: SCHEMA_VERSION,
  description: 'Grows only with a change that an older reader could not bear.',
};
const text = (description: string): Schema => ({ type: 'string', description });

export const headerSchemas: Readonly<Record<string, Schema>> = {
  EventHeaders: {
    ...object(
      {
        event_id: text('The same as in the body.'),
        event: text('The same as in the body.'),
        application_id: text('Whose operation it is.'),
        schema_version: VERSION,
        log_position: text(
          'Where the event stands in the log, in the words of its engine; absent in messages of releases before 2026.11.3.',
        ),
      },
      ['log_position'],
    ),
    description: 'What can be decided without reading the body.',
  },
  RefusedDecisionHeaders: {
    ...object(
      {
        schema_version: VERSION,
        origin: text('The same as in the body.'),
        text: {
          type: 'string',
          enum: ['whole', 'shortened'],
          description: 'Whether the body holds all of the text; a shortened one is whole at its origin.',
        },
        decision_id: text('The same as in the body.'),
      },
      ['decision_id'],
    ),
    description: 'What can be decided without reading the body.',
  },
  DeadLetterHeaders: {
    ...object(
      {
        dead_letter_reason: text('What was wrong with it.'),
        dead_letter_group: text('The consumer group that put it aside.'),
        dead_letter_topic: text('Where it stood: topic.'),
        dead_letter_partition: text('Where it stood: partition.'),
        dead_letter_offset: text('Where it stood: offset.'),
        dead_letter_value: text('Says so when the value was too large to be kept.'),
      },
      ['dead_letter_value'],
    ),
    description: 'Beside the headers that the message had.',
  },
};

interface MessageExample {
  readonly name: string;
  readonly summary: string;
  readonly headers?: object;
  readonly payload: unknown;
}

const message = (parts: {
  readonly name: string;
  readonly title: string;
  readonly summary: string;
  readonly payload: Schema;
  readonly headers?: string;
  readonly examples: readonly MessageExample[];
}): Schema => ({
  name: parts.name,
  title: parts.title,
  summary: parts.summary,
  contentType: 'application/json',
  ...(parts.headers !== undefined && { headers: ref(parts.headers) }),
  payload: parts.payload,
  bindings: { kafka: { key: KEY, bindingVersion: '0.5.0' } },
  examples: parts.examples,
});

export const eventMessageName = (event: LoanEventName): string =>
  eventSchemaName(event).replace(/Event$/, '');

const eventMessage = (event: LoanEventName, apiVersion: string): Schema => {
  const payload = eventExample(event, apiVersion);
  const headers = {
    event_id: payload.event_id,
    event: payload.event,
    application_id: EXAMPLE_OPERATION.applicationId,
    schema_version: SCHEMA_VERSION,
  };
  return message({
    name: event,
    title: eventMessageName(event),
    summary: LOAN_EVENTS[event],
    headers: 'EventHeaders',
    payload: ref(eventSchemaName(event)),
    examples: [{ name: event, summary: LOAN_EVENTS[event], headers, payload }],
  });
};

const byDecision = (
  examples: typeof decisionExamples | typeof confirmationExamples,
): readonly MessageExample[] =>
  examples.map(({ summary, payload }) => ({ name: payload.decision, summary, payload }));

export const DECISION = 'AdministratorDecision';
export const CONFIRMATION = 'AdministratorConfirmation';
export const REFUSED_DECISION = 'RefusedDecision';
export const UNREADABLE_EVENT = 'UnreadableEvent';

export const messages = (apiVersion: string): Readonly<Record<string, Schema>> => ({
  ...Object.fromEntries(
    LOAN_EVENT_NAMES.map((event) => [eventMessageName(event), eventMessage(event, apiVersion)]),
  ),
  [DECISION]: message({
    name: 'administrator_decision',
    title: 'Administrator decision',
    summary: 'What the administrator decided on one operation',
    payload: ref(DECISION),
    examples: byDecision(decisionExamples),
  }),
  [CONFIRMATION]: message({
    name: 'administrator_confirmation',
    title: 'Administrator confirmation',
    summary: 'What a second person says of a decision that needs two',
    payload: ref(CONFIRMATION),
    examples: byDecision(confirmationExamples),
  }),
  [REFUSED_DECISION]: message({
    name: 'refused_decision',
    title: 'Refused decision',
    summary: 'A decision that cannot be carried out, and why',
    headers: 'RefusedDecisionHeaders',
    payload: ref(REFUSED_DECISION),
    examples: [
      {
        name: 'refused_decision',
        summary: 'The term is not signed yet',
        headers: {
          schema_version: SCHEMA_VERSION,
          origin: refusedDecisionExample.origin,
          text: 'whole',
          decision_id: refusedDecisionExample.decision_id,
        },
        payload: refusedDecisionExample,
      },
    ],
  }),
  [UNREADABLE_EVENT]: message({
    name: 'unreadable_event',
    title: 'Unreadable event',
    summary: 'A message that a consumer of this service could never handle',
    headers: 'DeadLetterHeaders',
    payload: { description: 'The message exactly as it was found; it may be anything.' },
    examples: [
      {
        name: 'unreadable_event',
        summary: 'A body of a version that is not known',
        headers: {
          dead_letter_reason: 'schema_version 9 is not known',
          dead_letter_group: 'webhooks',
          dead_letter_topic: TOPICS.events,
          dead_letter_partition: '3',
          dead_letter_offset: '4711',
        },
        payload: { event: 'loan_received' },
      },
    ],
  }),
});
