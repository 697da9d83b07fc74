import { fundNamesDecider } from '../../domain/fund/names.ts';
import { encodeEvent } from '../event-codec/event-codec.ts';
import type { RecordedEvent } from '../ports/event-store.ts';
import { messageOf } from '../support/failures.ts';
import type { Difference, Report } from './difference.ts';
import { checkStream, decodeFunds } from './stored-events.ts';

/** Checks the stream of the names of funds, and decides each of them again. */
export const auditFundNames = (stream: string, events: readonly RecordedEvent[]): readonly Difference[] => {
  const differences: Difference[] = [];
  const report: Report = (difference) => void differences.push(difference);
  checkStream(stream, events, report);
  let names = fundNamesDecider.initialState;
  for (const { event, recorded } of decodeFunds(events, report)) {
    const { fundId, name, namedAt } = event;
    const place = {
      kind: 'decision',
      stream,
      revision: Number(recorded.revision),
      what: recorded.type,
    } as const;
    const found = recorded.data;
    try {
      const [again] = fundNamesDecider.decide({ type: 'NameFund', fundId, name, now: namedAt }, names);
      const expected = again ? encodeEvent(again).data : 'nothing: the fund has this name';
      if (expected !== found) report({ ...place, expected, found });
    } catch (error) {
      report({ ...place, expected: messageOf(error), found });
    }
    if (recorded.metadata.fundId !== fundId)
      report({ ...place, what: 'metadata.fundId', expected: fundId, found: `${recorded.metadata.fundId}` });
    names = fundNamesDecider.evolve(names, event);
  }
  return differences;
};
