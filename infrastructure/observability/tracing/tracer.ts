import { hash } from 'node:crypto';

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

/** The span of another service, as it stands in a W3C `traceparent`; undefined for anything that is not one. */
export const parseTraceparent = (
  text: string | undefined,
): { readonly traceId: string; readonly spanId: string } | undefined => {
  const [, traceId = '', spanId = ''] = TRACEPARENT.exec(text ?? '') ?? [];
  if (traceId === '' || NOTHING.test(traceId) || NOTHING.test(spanId)) return undefined;
  return { traceId, spanId };
};

export type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanDescription {
  readonly name: string;
  readonly kind: 'server' | 'internal' | 'client' | 'producer' | 'consumer';
  readonly traceId: string;
  /** Never personal data. */
  readonly attributes: Attributes;
  /** Of another service, whose work this one is a part of. */
  readonly link?: ReturnType<typeof parseTraceparent>;
}

/** A span of work that has ended. Instants are UNIX milliseconds. */
export interface EndedSpan extends Omit<SpanDescription, 'link'> {
  /** Where others have to find it; by default any. */
  readonly spanId?: string;
  readonly parentSpanId: string;
  readonly startedAt: number;
  readonly endedAt: number;
  /** Short stable word; present when it failed. */
  readonly failure?: string;
}

/** Adds to the span that runs; `failure` is a short stable word. */
export type NoteOnSpan = (attributes: Attributes, failure?: string) => void;

export interface Tracer {
  /** False when nothing is traced: callers then make no descriptions. */
  readonly active: boolean;
  /**
   * Runs the work as a span: inside the one that runs now when that is of the same trace, otherwise as the trace's first one.
   * Returns or throws what the work does.
   */
  run<T>(span: SpanDescription, work: (note: NoteOnSpan) => Promise<T>): Promise<T>;
  record(span: EndedSpan): void;
  /** Whether spans of this trace are kept; the same answer in every process. */
  keeps(traceId: string): boolean;
  /** Hands over what is still here, for a moment. */
  close(): Promise<void>;
}

const noNote: NoteOnSpan = () => undefined;

export const NO_TRACER: Tracer = {
  active: false,
  run: (_, work) => work(noNote),
  record: () => undefined,
  keeps: () => false,
  close: () => Promise.resolve(),
};
