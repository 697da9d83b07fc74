import type { Paper, Person } from './book.ts';

export interface Now {
  readonly now: string;
  /** In Sao Paulo. */
  readonly today: string;
  /** Decisions go by the rules of the release before. */
  readonly besideEarlier?: boolean;
}

export interface ScheduleInput {
  readonly price: number;
  readonly issued: string;
  readonly parts: readonly { readonly code: string; readonly due: string; readonly face: number }[];
}
export interface AssignInput extends ScheduleInput {
  readonly code: string;
  readonly fund: string;
  readonly product: string;
  readonly person: Person;
  readonly papers: readonly Omit<Paper, 'receivedAt'>[];
}
export interface SettleInput {
  readonly code: string;
  readonly part: string;
  readonly at: string;
  readonly value: number;
  readonly method: string;
  readonly key: string;
}
export interface PrepayInput extends Omit<SettleInput, 'part'> {
  readonly dry?: boolean;
}
export interface RepurchaseInput {
  readonly code: string;
  readonly reason: string;
  readonly detail?: string;
  readonly effective: string;
  readonly value?: number;
  readonly key: string;
  readonly dry?: boolean;
}
export interface RenegotiateInput extends ScheduleInput {
  readonly originals: readonly string[];
  readonly next: string;
  readonly effective: string;
  readonly person?: Person;
  /** Given with the multipart variant only. */
  readonly papers?: readonly Omit<Paper, 'receivedAt'>[];
}
