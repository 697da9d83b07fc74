import type { DeskEvent } from './desk/line.ts';
import type { DecisionEvent } from './decision/first-decision.ts';
import type { FourEyesEvent } from './fund/four-eyes.ts';
import type { FundNamed } from './fund/names.ts';
import type { LoanEvent } from './loan/events.ts';
import type { RenegotiationEvent } from './renegotiation/state.ts';

export type DomainEvent =
  LoanEvent | RenegotiationEvent | FundNamed | FourEyesEvent | DecisionEvent | DeskEvent;
