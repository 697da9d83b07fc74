import { hash } from 'node:crypto';

/** A span of another service, as it stands in a W3C `traceparent`. */
export interface RemoteSpan {
  readonly traceId: string;
  readonly spanId: string;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;
const NOTHING = /^0+$/;
const SPAN_ID_CHARACTERS = 16;
const TRACE_ID_CHARACTERS = 32;

/**
 * The trace of everything that one request or decision caused: 32 hexadecimal digits that follow from its correlation id, so
 * that any process that reads an event, at any time, finds the trace without anything being stored for it. A request's
 * trace id is its request id without dashes. Other correlation ids are shared by many operations (a sweep of the scheduler), so
 * there the stream tells them apart.
 */
export const traceIdOf = (correlationId: string, stream: string): string => {
  if (UUID.test(correlationId)) {
    const digits = correlationId.replaceAll('-', '');
    if (!NOTHING.test(digits)) return digits;
  }
  return hash('sha256', `trace ${correlationId} ${stream}`).slice(0, TRACE_ID_CHARACTERS);
};

/** The first span of a trace. */
export const rootSpanIdOf = (traceId: string): string =>
  hash('sha256', `root ${traceId}`).slice(0, SPAN_ID_CHARACTERS);

/** The span in which a public event went to the bus. */
export const publicationSpanIdOf = (eventId: string): string =>
  hash('sha256', `publication ${eventId}`).slice(0, SPAN_ID_CHARACTERS);

/** Undefined for anything that is not one. */
export const parseTraceparent = (text: string | undefined): RemoteSpan | undefined => {
  const [, traceId = '', spanId = ''] = TRACEPARENT.exec(text ?? '') ?? [];
  if (traceId === '' || NOTHING.test(traceId) || NOTHING.test(spanId)) return undefined;
  return { traceId, spanId };
};
