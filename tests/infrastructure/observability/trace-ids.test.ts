import { describe, expect, test } from '@jest/globals';
import {
  parseTraceparent,
  publicationSpanIdOf,
  rootSpanIdOf,
  traceIdOf,
} from '../../../infrastructure/observability/tracing/tracer.ts';

const REQUEST = '4bf92f35-77b3-4da6-a3ce-929d0e0e4736';

describe('trace ids', () => {
  test("a request's trace is its id without dashes, in every stream that it touches", () => {
    expect(traceIdOf(REQUEST, 'loan-a.1')).toBe('4bf92f3577b34da6a3ce929d0e0e4736');
    expect(traceIdOf(REQUEST, 'loan-a.2')).toBe('4bf92f3577b34da6a3ce929d0e0e4736');
  });

  test.each(['overdue-2026-06-15', 'sandbox-x', '00000000-0000-0000-0000-000000000000'])(
    'the correlation id %s gives each stream a trace of its own, always the same',
    (correlationId) => {
      const one = traceIdOf(correlationId, 'loan-a.1');
      expect(one).toMatch(/^(?!0+$)[0-9a-f]{32}$/);
      expect(traceIdOf(correlationId, 'loan-a.1')).toBe(one);
      expect(traceIdOf(correlationId, 'loan-a.2')).not.toBe(one);
    },
  );

  test('spans that others have to find have ids that follow from theirs', () => {
    expect(rootSpanIdOf('4bf92f3577b34da6a3ce929d0e0e4736')).toMatch(/^[0-9a-f]{16}$/);
    expect(publicationSpanIdOf(REQUEST)).toMatch(/^[0-9a-f]{16}$/);
    expect(publicationSpanIdOf(REQUEST)).not.toBe(rootSpanIdOf(REQUEST));
  });
});

describe('traceparent', () => {
  // The first three stand in the W3C recommendation "Trace Context".
  test.each([
    ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', true],
    ['00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00', true],
    ['cc-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-what-the-future-will-be-like', true],
    ['ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', false],
    ['00-00000000000000000000000000000000-00f067aa0ba902b7-01', false],
    ['00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01', false],
    ['00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01', false],
    ['', false],
    [undefined, false],
  ])('%s is one: %s', (text, valid) => {
    expect(parseTraceparent(text) !== undefined).toBe(valid);
  });
});
