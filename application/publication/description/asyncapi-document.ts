import { decisionSchemas } from './decision-schema.ts';
import { eventSchemaName, eventSchemas } from './event-schemas.ts';
import type { Schema } from '../../schemas/schema.ts';
import { valueSchemas } from '../../schemas/values.ts';
import { LOAN_EVENT_NAMES, TOPICS } from '../catalogue.ts';
import {
  CONFIRMATION,
  DECISION,
  REFUSED_DECISION,
  UNREADABLE_EVENT,
  eventMessageName,
  headerSchemas,
  messages,
} from './messages.ts';

const INTRODUCTION =
  'What travels between the service and the other systems of a fund: public events out, decisions of the administrator in. ' +
  'Where there is no broker the command line does the same: `receivables events` prints the events, ' +
  '`receivables administrator` takes decisions.\n\n' +
  'Messages arrive at least once and in order per operation: drop an event_id that you have seen, put events in order by ' +
  'sequence. New fields and new events may appear at any time; nothing is removed or narrowed. ' +
  'No message carries personal data of a borrower.';

interface Channel {
  readonly address: string;
  readonly title: string;
  readonly description: string;
  readonly messages: readonly string[];
  readonly action: 'send' | 'receive';
  readonly operation: string;
  readonly summary: string;
}

const CHANNELS: Readonly<Record<string, Channel>> = {
  events: {
    address: TOPICS.events,
    title: 'Public events',
    description:
      'Everything that happens to operations, of all applications; the same bodies that webhooks get.',
    messages: LOAN_EVENT_NAMES.map(eventMessageName),
    action: 'send',
    operation: 'publishEvents',
    summary: 'Tell what happened',
  },
  administratorDecisions: {
    address: TOPICS.decisions,
    title: 'Decisions of the administrator',
    description: 'Key each one by its operation, so that a later decision cannot overtake an earlier one.',
    messages: [DECISION, CONFIRMATION],
    action: 'receive',
    operation: 'carryOutDecisions',
    summary: 'Carry out what was decided',
  },
  eventsDeadLetter: {
    address: TOPICS.eventsDeadLetter,
    title: 'Events put aside',
    description: 'Messages that a consumer of the service could not handle. Any entry deserves a look.',
    messages: [UNREADABLE_EVENT],
    action: 'send',
    operation: 'putEventsAside',
    summary: 'Keep what cannot be handled',
  },
  administratorDecisionsDeadLetter: {
    address: TOPICS.decisionsDeadLetter,
    title: 'Decisions put aside',
    description: 'Decisions that the rules refuse, each with its reason. Mend the text and send it again.',
    messages: [REFUSED_DECISION],
    action: 'send',
    operation: 'putDecisionsAside',
    summary: 'Keep what is refused',
  },
};

const channelOf = ({ address, title, description, messages: names }: Channel): Schema => ({
  address,
  title,
  description,
  messages: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/messages/${name}` }])),
  bindings: { kafka: { topic: address, bindingVersion: '0.5.0' } },
});

const operationOf = (name: string, { action, title, summary, messages: names }: Channel): Schema => ({
  action,
  channel: { $ref: `#/channels/${name}` },
  title,
  summary,
  messages: names.map((message) => ({ $ref: `#/channels/${name}/messages/${message}` })),
});

/** Only what the messages here need: the interface description has the rest. */
const usedSchemas = (): Readonly<Record<string, Schema>> => {
  const events = ['EventEnvelope', ...LOAN_EVENT_NAMES.map(eventSchemaName)];
  const own = {
    ...Object.fromEntries(events.map((name) => [name, eventSchemas[name]!])),
    ...decisionSchemas,
    ...headerSchemas,
  };
  const named = (name: string): boolean => JSON.stringify(own).includes(`"#/components/schemas/${name}"`);
  return { ...Object.fromEntries(Object.entries(valueSchemas).filter(([name]) => named(name))), ...own };
};

/** In the schemas of AsyncAPI nothing counts beside a reference, so what stands there moves around it. */
const referring = (node: unknown): unknown => {
  if (Array.isArray(node)) return node.map(referring);
  if (typeof node !== 'object' || node === null) return node;
  const { $ref, ...beside } = node as Schema;
  const rest = Object.fromEntries(Object.entries(beside).map(([name, inner]) => [name, referring(inner)]));
  if ($ref === undefined) return rest;
  return Object.keys(rest).length === 0 ? { $ref } : { allOf: [{ $ref }], ...rest };
};

/** The published language of the topics, as AsyncAPI 3. @param version of the interface, as in the interface description */
export const asyncApiDocument = (version: string): Schema => {
  const channels = Object.entries(CHANNELS);
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Receivables Fund Events and Decisions',
      version,
      description: INTRODUCTION,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
    },
    defaultContentType: 'application/json',
    channels: Object.fromEntries(channels.map(([name, channel]) => [name, channelOf(channel)])),
    operations: Object.fromEntries(
      channels.map(([name, channel]) => [channel.operation, operationOf(name, channel)]),
    ),
    components: { messages: messages(version), schemas: referring(usedSchemas()) },
  };
};
