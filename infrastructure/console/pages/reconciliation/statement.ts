import type { Comparison } from '../../../../application/reconciliation/comparison.ts';
import type { StatementPreview } from '../../../../application/reconciliation/statements.ts';
import { Kept } from '../../kept.ts';

/** What the form says, as it was typed. */
export interface Typed {
  readonly fund: string;
  readonly from: string;
  readonly to: string;
  readonly window: string;
  readonly tolerance: string;
  readonly requireReference: boolean;
}

/** A statement that was uploaded, with what was asked of it last and what came of that; drawn anew for each visit. */
export interface KeptStatement {
  readonly name: string;
  readonly bytes: Buffer;
  preview: StatementPreview;
  typed: Typed;
  compared?: Comparison | undefined;
  /** Why nothing was compared. */
  said?: (() => string) | undefined;
}

/** Of one file. */
export const LARGEST = 16 * 1_048_576;
const MOST_KEPT = 4;
/** Of all files of all people. */
const MOST_BYTES = 8 * LARGEST;

/** In memory alone: nothing of them is on a disk, and the end of the console is theirs too. */
export const statements = new Kept<KeptStatement>(MOST_KEPT, {
  mostBytes: MOST_BYTES,
  bytesOf: ({ bytes }) => Math.max(1, bytes.length),
});

export const statementPath = (id: string): string => `/reconciliation/${id}`;
