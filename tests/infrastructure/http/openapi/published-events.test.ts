import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import { decodeLoanEvent } from '../../../../application/event-codec/event-codec.ts';
import type { JsonText } from '../../../../application/ports/event-store.ts';
import { EVENT_NAMES } from '../../../../application/publication/catalogue.ts';
import { pingEvent, toPublicEvent } from '../../../../application/publication/public-events.ts';
import { openApiDocument } from '../../../../infrastructure/http/openapi/document.ts';
import { API_VERSION } from '../../../../infrastructure/http/openapi/version.ts';
import { ServedDescription } from '../../../support/http-description.ts';

type Json = ReturnType<typeof JSON.parse>;

const ADDRESSES = { publicUrl: 'https://api.receivables.test', authUrl: 'https://auth.receivables.test' };
const description = new ServedDescription(
  JSON.parse(JSON.stringify(openApiDocument(ADDRESSES))) as Record<string, unknown>,
);
const webhooks: Json = description.document['webhooks'];
const contentOf = (event: string): Json => webhooks[event].post.requestBody.content['application/json'];
const errorsOf = (event: string, body: unknown): string | undefined =>
  description.schemaErrors(
    ['webhooks', event, 'post', 'requestBody', 'content', 'application/json', 'schema'],
    body,
  );

const place = {
  eventId: '5c0f9a52-7f6b-4a3c-8a37-1e2d3c4b5a69',
  applicationId: 'app-1',
  fundId: '6f1c2f0e-8f57-4f0e-9d5e-3a8a0f6f2b11',
  code: 'OP-1',
  revision: 3n,
  recordedAt: '2026-06-20T12:00:00.000Z',
};

/** Bodies as they are sent, made of every event that was ever stored. */
const produced = (): { name: string; body: Json }[] => {
  const folder = new URL('../../../fixtures/stored-events/', import.meta.url);
  const stored = readdirSync(folder)
    .map(
      (name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as { type: string; stored: object },
    )
    .filter(({ type }) => !/^(renegotiation|fund|decision|desk)\./.test(type))
    .map(({ type, stored: data }) => decodeLoanEvent({ type, data: JSON.stringify(data) as JsonText }));
  const { eventId, applicationId, recordedAt: timestamp } = place;
  return [
    ...stored.flatMap((event) => toPublicEvent(event, place, API_VERSION) ?? []),
    pingEvent({ eventId, applicationId, timestamp, apiVersion: API_VERSION }),
  ].map(({ name, body }) => ({ name, body: JSON.parse(body) }));
};

/** Paths of every field of a value, the entries of a list taken together. */
const fieldsOf = (value: Json, path = ''): string[] => {
  if (Array.isArray(value)) return value.flatMap((entry) => fieldsOf(entry, `${path}[]`));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries<Json>(value).flatMap(([name, inner]) => [
    `${path}.${name}`,
    ...fieldsOf(inner, `${path}.${name}`),
  ]);
};

describe('the events that the description promises', () => {
  test('are the catalogue', () => {
    expect(Object.keys(webhooks).sort()).toEqual([...EVENT_NAMES].sort());
  });

  test('have examples that their schemas accept', () => {
    for (const name of EVENT_NAMES) {
      expect([name, errorsOf(name, contentOf(name).example)]).toEqual([name, undefined]);
    }
  });

  test('are all produced, and every body that is produced fits', () => {
    const bodies = produced();
    expect(new Set(bodies.map(({ name }) => name))).toEqual(new Set(EVENT_NAMES));
    for (const { name, body } of bodies) expect([name, errorsOf(name, body)]).toEqual([name, undefined]);
  });

  test('show in their examples the very fields that are sent', () => {
    for (const { name, body } of produced()) {
      const shown = new Set(fieldsOf(contentOf(name).example));
      expect([name, fieldsOf(body).filter((field) => !shown.has(field))]).toEqual([name, []]);
    }
  });

  test('say no without one of the promised fields', () => {
    for (const { name, body } of produced()) {
      for (const field of Object.keys(body)) {
        const { [field]: _, ...rest } = body;
        expect([name, field, errorsOf(name, rest)]).toEqual([name, field, expect.any(String)]);
      }
      for (const field of Object.keys(body.data)) {
        const { [field]: _, ...data } = body.data;
        if (['partially_paid', 'disbursement_date'].includes(field)) continue;
        expect([name, field, errorsOf(name, { ...body, data })]).toEqual([name, field, expect.any(String)]);
      }
    }
  });

  test('come with all headers of a delivery', () => {
    const named = (event: string): string[] =>
      webhooks[event].post.parameters.map(
        ({ $ref }: Json) => description.document['components'].parameters[$ref.split('/').pop()].name,
      );
    for (const name of EVENT_NAMES) {
      expect(named(name)).toEqual([
        ...['X-SVC-Event', 'X-SVC-Event-Id', 'X-SVC-Signature', 'X-SVC-Signature-V2'],
        ...['X-SVC-Timestamp', 'X-SVC-Delivery-Attempt'],
        ...['webhook-id', 'webhook-timestamp', 'webhook-signature'],
      ]);
    }
  });
});
