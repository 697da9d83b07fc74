import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { parse } from 'yaml';
import { deadLetterText } from '../../../application/administrator/decisions.ts';
import { DECISIONS } from '../../../application/publication/description/decision-schema.ts';
import { decodeLoanEvent } from '../../../application/event-codec/event-codec.ts';
import type { JsonText } from '../../../application/ports/event-store.ts';
import { toBusMessage } from '../../../application/publication/bus-message.ts';
import { LOAN_EVENT_NAMES, TOPICS } from '../../../application/publication/catalogue.ts';
import { toPublicEvent } from '../../../application/publication/public-events.ts';
import { amount } from '../../../application/support/json-amounts.ts';
import { DocumentValidators } from '../../../application/schemas/document-validators.ts';
import { centsFromAmount } from '../../../domain/shared/money.ts';
import { API_VERSION } from '../../../infrastructure/http/openapi/version.ts';
import { publishedSchemasFile, publishedTopics, topicsFile } from '../../support/published-topics.ts';
import { breakingChanges } from '../../support/schema-evolution.ts';
import type { Direction } from '../../support/schema-evolution.ts';

type Json = ReturnType<typeof JSON.parse>;

const document: Json = publishedTopics();
const validators = new DocumentValidators(document);
const errorsOf = (schema: Json, value: unknown): readonly unknown[] =>
  schema.$ref ? validators.component(String(schema.$ref).split('/').pop()!, 'value')(value) : [];

const messagesOf = (channel: string): [string, Json][] =>
  Object.entries<Json>(document.channels[channel].messages).map(([name, { $ref }]) => [
    name,
    document.components.messages[String($ref).split('/').pop()!],
  ]);
const messageNamed = (name: string): Json =>
  messagesOf('events').find(([, message]) => message.name === name)?.[1];

/** Messages as they go out, made of every event that was ever stored. */
const produced = () => {
  const folder = new URL('../../fixtures/stored-events/', import.meta.url);
  const place = {
    eventId: '5c0f9a52-7f6b-4a3c-8a37-1e2d3c4b5a69',
    applicationId: 'app-1',
    fundId: '6f1c2f0e-8f57-4f0e-9d5e-3a8a0f6f2b11',
    code: 'OP-1',
    revision: 3n,
    recordedAt: '2026-06-20T12:00:00.000Z',
  };
  return readdirSync(folder)
    .map(
      (name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as { type: string; stored: object },
    )
    .filter(({ type }) => !/^(renegotiation|fund|decision|desk)\./.test(type))
    .map(({ type, stored }) => decodeLoanEvent({ type, data: JSON.stringify(stored) as JsonText }))
    .flatMap((event) => toPublicEvent(event, place, API_VERSION) ?? [])
    .map((event) => ({ name: event.name, ...toBusMessage(event) }));
};

const lint = async (source: Json): Promise<readonly string[]> => {
  const config = await createConfig({
    extends: ['recommended-strict'],
    rules: {
      'no-invalid-schema-examples': { severity: 'error', allowAdditionalProperties: true },
      // How a broker knows its clients is decided where it runs.
      'security-defined': 'off',
    },
  });
  const problems = await lintFromString({ source: JSON.stringify(source), config });
  return problems.map(({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`);
};

describe('the description of the topics', () => {
  test('is AsyncAPI 3 in which the linter finds nothing', async () => {
    expect(document.asyncapi).toBe('3.0.0');
    expect(document.info.version).toBe(API_VERSION);
    expect(await lint(document)).toEqual([]);
  });

  test('is read by a linter that bites', async () => {
    const broken = structuredClone(document);
    broken.channels.events.address = 5;
    broken.operations.publishEvents.action = 'shout';
    broken.operations.carryOutDecisions.channel.$ref = '#/channels/none';
    const found = (await lint(broken)).join('\n');
    for (const place of ['/channels/events/address', '/publishEvents/action', 'no-unresolved-refs']) {
      expect(found).toContain(place);
    }
  });

  test('stands in docs/asyncapi.yaml word for word', () => {
    expect(parse(readFileSync(topicsFile, 'utf8'))).toEqual(document);
  });

  test('names every topic', () => {
    const addresses = Object.values<Json>(document.channels).map(({ address }) => address);
    expect(addresses.sort()).toEqual(Object.values(TOPICS).sort());
  });

  test('has an example of every message that its schemas accept', () => {
    for (const channel of Object.keys(document.channels)) {
      for (const [name, { payload, headers, examples }] of messagesOf(channel)) {
        expect([name, examples.length]).not.toEqual([name, 0]);
        for (const example of examples) {
          expect([name, errorsOf(payload, example.payload)]).toEqual([name, []]);
          if (headers) expect([name, errorsOf(headers, example.headers)]).toEqual([name, []]);
        }
      }
    }
    const [decision] = messagesOf('administratorDecisions')[0]!.slice(1) as [Json];
    expect(decision.examples.map(({ payload }: Json) => payload.decision)).toEqual([...DECISIONS]);
  });

  test('describes every event that can go out, and every one fits', () => {
    const messages = produced();
    expect(new Set(messages.map(({ name }) => name))).toEqual(new Set(LOAN_EVENT_NAMES));
    for (const { name, value, headers } of messages) {
      const { payload, headers: headerSchema } = messageNamed(name);
      expect([name, errorsOf(payload, JSON.parse(value))]).toEqual([name, []]);
      expect([name, errorsOf(headerSchema, headers)]).toEqual([name, []]);
    }
    const { data: _, ...halved } = JSON.parse(messages[0]!.value);
    expect(errorsOf(messageNamed(messages[0]!.name).payload, halved)).not.toEqual([]);
  });

  test('describes the dead letter of a decision as it is written', () => {
    const details = [{ field: 'decision', code: 'required', message: 'is required' }];
    const reason = { code: 'validation_error', message: 'decision is required', details };
    const refused = { text: '{', origin: 'line 1', reason, refusedAt: '2026-06-20T12:00:00.000Z' };
    const [, message] = messagesOf('administratorDecisionsDeadLetter')[0]!;
    for (const one of [refused, { ...refused, decisionId: 'D-1' }]) {
      expect(errorsOf(message.payload, JSON.parse(deadLetterText(one)))).toEqual([]);
    }
  });
});

/** What should never have been published, or taken; the changelog lists it. */
const CORRECTED = [
  // Validators compare binary fractions, and refused a tenth of all genuine amounts.
  'Amount: multipleOf was 0.01, is undefined',
  // No client can ask for the codes `.` and `..`.
  `ProposalCode: pattern was ${JSON.stringify('^[!"$&-.0->@-\\[\\]-~]{1,100}$')}`,
];

describe('additive evolution', () => {
  const published: Json = JSON.parse(readFileSync(publishedSchemasFile, 'utf8'));
  const directionOf = (name: string): Direction => (name === 'AdministratorDecision' ? 'received' : 'sent');
  const changes = (now: Json): string[] =>
    Object.entries<Json>(published.schemas)
      // Values are judged in both directions, because both kinds of messages are made of them.
      .flatMap(([name, schema]) =>
        [...new Set<Direction>(schema.properties ? [directionOf(name)] : ['sent', 'received'])].flatMap(
          (direction) => breakingChanges(schema, now.components.schemas[name], direction, name),
        ),
      )
      .filter((change) => !CORRECTED.some((corrected) => change.startsWith(corrected)));

  test('nothing that was published is removed or narrowed', () => {
    expect(changes(document)).toEqual([]);
    for (const [name, { address, messages }] of Object.entries<Json>(published.channels)) {
      expect(document.channels[name]).toMatchObject({ address, messages });
    }
  });

  test('a new field, a new event and a new kind of decision are welcome', () => {
    const later = structuredClone(document);
    later.components.schemas.LoanApprovedEvent.properties.data.properties.approved_by = { type: 'string' };
    later.components.schemas.LoanApprovedEvent.properties.data.required.push('approved_by');
    later.components.schemas.SomethingNewEvent = { type: 'object' };
    later.components.schemas.AdministratorDecision.properties.decision.enum.push('postpone');
    later.components.schemas.AdministratorDecision.properties.priority = { type: 'integer' };
    expect(changes(later)).toEqual([]);
  });

  test.each<[string, (schemas: Json) => void]>([
    ['an event removed', (s) => delete s.LoanApprovedEvent],
    ['a field removed', (s) => delete s.LoanApprovedEvent.properties.data.properties.approved_at],
    ['a promise withdrawn', (s) => s.LoanApprovedEvent.properties.data.required.pop()],
    ['a type changed', (s) => (s.EventEnvelope.properties.sequence.type = 'string')],
    [
      'a value that readers do not know',
      (s) => s.RepurchaseCompletedEvent.properties.data.properties.status.enum.push('x'),
    ],
    ['a new duty for those who decide', (s) => s.AdministratorDecision.required.push('note')],
    ['a decision taken away', (s) => s.AdministratorDecision.properties.decision.enum.pop()],
    ['a shorter text', (s) => (s.AdministratorDecision.properties.note.maxLength = 10)],
    ['a stricter pattern', (s) => (s.AdministratorDecision.properties.decision_id.pattern = '^x$')],
    ['another value of a building block', (s) => s.PaymentMethod.enum.push('barter')],
  ])('%s is refused', (_, change) => {
    const later = structuredClone(document);
    change(later.components.schemas);
    expect(changes(later)).toHaveLength(1);
  });
});

/** Amounts as bodies have them: an example's own number would lose the decimals that a signature covers. */
const printedAmounts = (name: string, value: unknown): unknown =>
  typeof value === 'number' && /_value$|_balance$|^difference$|^total_received$/.test(name)
    ? amount(centsFromAmount(value))
    : value;

test('docs/events.md shows the example of every event, whole', () => {
  const page = readFileSync(new URL('../../../docs/events.md', import.meta.url), 'utf8');
  const examples = messagesOf('events').map(
    ([
      ,
      {
        examples: [example],
      },
    ]) =>
      [
        `## ${example.name}`,
        `${example.summary}.`,
        `\`\`\`json\n${JSON.stringify(example.payload, printedAmounts, 2)}\n\`\`\``,
      ].join('\n\n'),
  );
  expect(/<!-- events -->\n\n([\s\S]*?)\n\n<!-- \/events -->/.exec(page)?.[1]).toBe(examples.join('\n\n'));
});

test('pages name no topic but those that there are', () => {
  const docs = new URL('../../../docs/', import.meta.url);
  const pages = readdirSync(docs).filter((name) => name.endsWith('.md'));
  const named = pages.flatMap((page) =>
    [
      ...readFileSync(new URL(page, docs), 'utf8').matchAll(
        /`(\w+\.(?:events|administrator-decisions)\b[\w.-]*)`/g,
      ),
    ].map(([, topic]) => topic),
  );
  const topics: readonly (string | undefined)[] = Object.values(TOPICS);
  expect(named).toContain(TOPICS.events);
  expect(named.filter((topic) => !topics.includes(topic))).toEqual([]);
});
