import { DomainError } from '../../domain/shared/domain-error.ts';
import type { AuditNotes } from './audit-notes.ts';
import type { LogPosition } from '../ports/event-store.ts';
import type { SealCheck } from './seals/check-seals.ts';

/** From where an audit that was stopped goes on. */
export interface AuditProgress {
  /** What was asked for: a later run must ask for the same. */
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
