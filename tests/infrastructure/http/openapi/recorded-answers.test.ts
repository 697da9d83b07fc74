import { expect, test } from '@jest/globals';
import { ERRORS } from '../../../../infrastructure/http/errors/error-table.ts';
import { openApiDocument } from '../../../../infrastructure/http/openapi/document.ts';
import recorded from '../../../../infrastructure/http/openapi/recorded-answers.json' with { type: 'json' };
import { recordAnswers } from '../../../support/recorded-answers.ts';

type Json = ReturnType<typeof JSON.parse>;

const document: Json = openApiDocument({ publicUrl: 'https://x.test', authUrl: 'https://x.test' });
const responses: Json[] = [
  ...Object.values<Json>(document.components.responses),
  ...Object.values<Json>(document.paths).flatMap((item) =>
    Object.values<Json>(item).flatMap((operation) => Object.values<Json>(operation.responses)),
  ),
];
const shown = responses.flatMap((response) =>
  Object.values<Json>(response.content?.['application/json']?.examples ?? {}).map(({ value }) => value),
);

test('quotes and refusals are shown as the service answers them (tests/support/write-recorded-answers.ts writes them anew)', async () => {
  const answered = await recordAnswers();
  expect(recorded).toEqual(answered);
  for (const [name, { error_code }] of Object.entries(recorded.refusals)) {
    expect([name, name.replace(/_of_(?:path|token)$/, '')]).toEqual([name, error_code]);
  }
});

test('every code that the description shows is shown with such an answer', () => {
  const refusals = shown.filter(({ error_code }) => error_code !== undefined);
  const told = Object.values<Json>(recorded.refusals).map((one) =>
    JSON.stringify([one.message, one.details]),
  );
  const made = refusals.filter(({ message, details }) => !told.includes(JSON.stringify([message, details])));
  expect(refusals.length).toBeGreaterThan(40);
  expect(made.map(({ error_code }) => error_code)).toEqual([]);
  expect(Object.keys(ERRORS)).toEqual(expect.arrayContaining(refusals.map(({ error_code }) => error_code)));
});

test('what POST /token refuses is shown in its own words, not in those of other requests', () => {
  const answers = document.paths['/token'].post.responses;
  const shownFor = (status: number, code: string): string =>
    answers[status].content['application/json'].examples[code].value.message;
  expect(shownFor(400, 'validation_error')).toMatch(/^X-Sandbox-Token-Lifetime must be/);
  expect(shownFor(413, 'payload_too_large')).toBe('the body may hold at most 16384 bytes');
  expect(shownFor(415, 'unsupported_media_type')).toBe('send the body as application/x-www-form-urlencoded');
});

test('a quote stands beside the receipt of every request that can be tried out', () => {
  const quotes = shown.filter(({ status }) => status === 'quoted');
  expect(quotes).toEqual([
    recorded.quotes.assignment,
    recorded.quotes.settlement,
    recorded.quotes.prepayment,
    recorded.quotes.repurchase,
    recorded.quotes.renegotiation,
  ]);
});
