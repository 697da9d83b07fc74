import { DomainError } from '../../domain/shared/domain-error.ts';
import type { LogPosition } from '../ports/event-store.ts';
import type { SealCheck } from './seals/check-seals.ts';

export interface StreamNote {
  readonly inLog: number;
  readonly read: number;
  readonly hash: string;
  readonly payments: number;
  readonly inFeed: number;
}

export interface StreamHead {
  readonly stream: string;
  readonly revision: number;
  readonly hash: string;
}

/** A key that was used up, and by which event, as digests. */
export interface ClaimNote {
  readonly key: Uint8Array;
  readonly place: Uint8Array;
}

/** Keeps an audit's memory from growing with the log. What was noted after the last save is gone once it is stopped. */
export interface AuditNotes {
  readonly isKept: boolean;
  stream(name: string): StreamNote | undefined;
  noteStream(name: string, note: StreamNote): void;
  streams(): Iterable<readonly [name: string, note: StreamNote]>;
  noteClaims(claims: readonly ClaimNote[]): void;
  noteUsed(stream: string, used: readonly ClaimNote[]): void;
  /** Streams with a used key of which the log's last claim is for another event, or that it has no claim of. */
  unpaired(): Iterable<string>;
  /** Heads that were written down elsewhere; `forgetHeads` begins them anew. */
  forgetHeads(): void;
  noteHead(head: StreamHead): void;
  head(stream: string): StreamHead | undefined;
  heads(): Iterable<StreamHead>;
  /** False for one that is noted already: an audit that goes on meets some things a second time. */
  noteDifference(text: string): boolean;
  differences(): Iterable<string>;
  save(progress: string): void;
  saved(): string | undefined;
  close(): void;
}

export interface AuditProgress {
  readonly request: string;
  readonly startedAt: string;
  readonly at: LogPosition | 'start';
  readonly claimsAt: LogPosition | 'start';
  readonly seals: SealCheck['progress'];
  readonly frozenEarlier: number;
  readonly counts: Record<
    'events' | 'streams' | 'publicEvents' | 'frozenEvents' | 'documents' | 'differences',
    number
  >;
}

/** @throws DomainError `validation_error`: the notes are of another audit */
export const earlierProgress = (notes: AuditNotes, request: string): AuditProgress | undefined => {
  const saved = notes.saved();
  if (saved === undefined) return undefined;
  const progress = JSON.parse(saved) as AuditProgress;
  if (progress.request === request) return progress;
  throw new DomainError(
    'validation_error',
    'the audit to be resumed had another fund or anchor, or --documents was given to one of them alone: give the same, or begin a new one in another file',
  );
};
