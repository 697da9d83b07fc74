import type { DeskOutcome } from '../../domain/desk/line.ts';
import { hasEnded, isAwaited, isShownStatus } from '../../domain/loan/statuses.ts';
import { html } from './html.ts';
import type { View } from './html.ts';
import { statusName } from './names.ts';

/** What the colour of a badge stands for. Its word says the same. */
export type Meaning = 'good' | 'bad' | 'warn' | 'waits' | 'quiet';

export const badge = (meaning: Meaning, text: View): View =>
  html`<span class=${`badge ${meaning}`}>${text}</span>`;

const meaningOf = (status: string): Meaning => {
  if (status === 'reserved') return 'good';
  if (status === 'rejected') return 'bad';
  if (!isShownStatus(status) || hasEnded(status)) return 'quiet';
  return isAwaited(status) ? 'waits' : 'good';
};

/** Where an operation stands: good while it is active, quiet once it has ended. */
export const statusBadge = (status: string): View => badge(meaningOf(status), statusName(status));

const OUTCOMES: Readonly<Record<DeskOutcome, Meaning>> = {
  done: 'quiet',
  applied: 'good',
  already_applied: 'quiet',
  awaiting_confirmation: 'waits',
  refused: 'bad',
  failed: 'bad',
};

/** What became of something that was asked for, in the words of the page. */
export const outcomeBadge = (outcome: DeskOutcome, text: string): View => badge(OUTCOMES[outcome], text);
