import { fourEyesDecider } from '../../domain/fund/four-eyes.ts';
import type { FourEyesEvent } from '../../domain/fund/four-eyes.ts';
import { fundNamesDecider } from '../../domain/fund/names.ts';
import type { Decider } from '../../domain/shared/decider.ts';
import { DESK_STREAM_PREFIX, FOUR_EYES_STREAM, FUND_NAMES_STREAM } from '../command-handling/operation.ts';
import { encodeEvent } from '../event-codec/event-codec.ts';
import type { RecordedEvent } from '../ports/event-store.ts';
import { messageOf } from '../support/failures.ts';
import { telling } from './difference.ts';
import type { Report } from './difference.ts';
import { decodeFourEyes, decodeFunds, decodeDesk } from './stored-events.ts';
import type { DecodedEvent } from './stored-events.ts';
import type { DeskEvent } from '../../domain/desk/line.ts';
import { DESK_DAYS_STREAM } from '../desk/desk-streams.ts';

type OfFund = Parameters<typeof encodeEvent>[0] & { readonly fundId: string };

interface Rules<State, Command, Event extends OfFund> {
  readonly decider: Decider<State, Command, Event>;
  readonly decode: (events: readonly RecordedEvent[], report: Report) => readonly DecodedEvent<Event>[];
  readonly commandOf: (event: Event) => Command;
}

const auditing =
  <State, Command, Event extends OfFund>({ decider, decode, commandOf }: Rules<State, Command, Event>) =>
  (events: readonly RecordedEvent[], report: Report): void => {
    let state = decider.initialState;
    for (const { event, recorded } of decode(events, report)) {
      const { type, data: found, metadata } = recorded;
      const tell = telling(report, 'decision', recorded);
      try {
        const [caused] = decider.decide(commandOf(event), state);
        const { type: wanted, data } = caused
          ? encodeEvent(caused)
          : { type, data: 'nothing: it is so already' };
        if (wanted !== type) tell('type', wanted, type);
        else if (data !== found) tell(type, data, found);
      } catch (error) {
        tell(type, messageOf(error), found);
      }
      if (metadata.fundId !== event.fundId) tell('metadata.fundId', event.fundId, `${metadata.fundId}`);
      state = decider.evolve(state, event);
    }
  };

const auditFundNames = auditing({
  decider: fundNamesDecider,
  decode: decodeFunds,
  commandOf: ({ fundId, name, namedAt: now }) => ({ type: 'NameFund', fundId, name, now }),
});

const ruleCommand = (event: FourEyesEvent): Parameters<typeof fourEyesDecider.decide>[0] => {
  switch (event.type) {
    case 'FourEyesSet': {
      const { fundId, decisions, evidence, by, setAt: now, proposalId } = event;
      return proposalId === undefined
        ? { type: 'SetFourEyes', fundId, decisions, evidence, by, now, proposalId: '' }
        : { type: 'ConfirmFourEyes', proposalId, by, now };
    }
    case 'FourEyesProposed':
      return { ...event, type: 'SetFourEyes', now: event.proposedAt };
    case 'FourEyesWithdrawn':
      return { ...event, type: 'WithdrawFourEyes', now: event.withdrawnAt };
  }
};

const auditFourEyes = auditing({
  decider: fourEyesDecider,
  decode: decodeFourEyes,
  commandOf: ruleCommand,
});

const timeOf = (event: DeskEvent): string => (event.type === 'DeskDayBegun' ? event.begunAt : event.at);

/** Checks a stream of the desk log: nothing stands in it but lines, each with the time at which it was recorded and with fields that one has. */
const auditDesk = (stream: string, events: readonly RecordedEvent[], report: Report): void => {
  const wanted: DeskEvent['type'] = stream === DESK_DAYS_STREAM ? 'DeskDayBegun' : 'DeskLineWritten';
  for (const { event, recorded } of decodeDesk(events, report)) {
    const { type, data, metadata } = recorded;
    const tell = telling(report, 'event', recorded);
    if (event.type !== wanted) tell(type, wanted, event.type);
    const expected = encodeEvent(event).data;
    if (expected !== data) tell(type, expected, data);
    const [at, found] = [timeOf(event), metadata.recordedAt];
    if (at !== found) tell('metadata.recordedAt', at, found);
  }
};

/** False for any other stream. */
export const auditBesideOperations = (
  stream: string,
  events: readonly RecordedEvent[],
  report: Report,
): boolean => {
  if (stream.startsWith(DESK_STREAM_PREFIX)) auditDesk(stream, events, report);
  else if (stream === FUND_NAMES_STREAM) auditFundNames(events, report);
  else if (stream === FOUR_EYES_STREAM) auditFourEyes(events, report);
  else return false;
  return true;
};
