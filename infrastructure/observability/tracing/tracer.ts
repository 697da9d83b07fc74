import type { RemoteSpan } from './trace-ids.ts';

export type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanDescription {
  readonly name: string;
  readonly kind: 'server' | 'internal' | 'client' | 'producer' | 'consumer';
  readonly traceId: string;
  /** Never personal data. */
  readonly attributes: Attributes;
}

/** A span of work that has ended. Instants are UNIX milliseconds. */
export interface EndedSpan extends SpanDescription {
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
  run<T>(
    span: SpanDescription & { readonly link?: RemoteSpan | undefined },
    work: (note: NoteOnSpan) => Promise<T>,
  ): Promise<T>;
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
