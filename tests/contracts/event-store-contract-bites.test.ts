import { describe, expect, test } from '@jest/globals';
import * as broken from './event-store-broken.ts';
import type { EventStoreUnderTest } from './event-store-contract.ts';
import { eventStoreCases } from './event-store-contract.ts';
import { failureOf } from './event-store-samples.ts';

const PATIENCE_MS = 250;

/** Of the promises whose names have this part. */
const namesOfFailures = async (open: () => EventStoreUnderTest, promise = ''): Promise<readonly string[]> => {
  const failures = await Promise.all(
    eventStoreCases
      .filter(({ name }) => name.includes(promise))
      .map(async ({ name, check }) => ({ name, failure: await failureOf(check(open(), PATIENCE_MS)) })),
  );
  return failures.filter(({ failure }) => failure !== undefined).map(({ name }) => name);
};

/** Each flaw with a part of the name of a promise that must find it out. */
const flaws: readonly (readonly [flaw: string, store: new () => EventStoreUnderTest, promise: string])[] = [
  ['says that the log ends too early', broken.EndsTooEarly, 'the end of the log'],
  ['takes any revision', broken.IgnoresRevisions, 'at another revision'],
  ['checks the revision before it may write', broken.ChecksTooEarly, 'exactly one wins, round after round'],
  ['accepts a revision that is too low', broken.AcceptsRevisionsTooLow, 'at another revision'],
  [
    'does not know an append again',
    broken.ForgetsRepeats,
    'repeating an append answers the first result and stores nothing',
  ],
  ['knows an append again by its first id', broken.RepeatsByFirstIdOnly, 'ids that match only in part'],
  ['answers a repetition with the head', broken.RepeatsAnswerTheHead, 'also when the stream has moved on'],
  [
    'stores a part of a refused append',
    broken.StoresHalfOfARefusedAppend,
    'names the holder and stores nothing',
  ],
  ['lets a key be used twice', broken.IgnoresClaims, 'a key that another stream has used up'],
  ['forgets keys', broken.NeverRemembersClaims, 'an append uses up its key'],
  ['uses up the key of a refused append', broken.ClaimsForRefused, 'leaves its key unused'],
  [
    'looks at keys before revisions',
    broken.ChecksClaimsFirst,
    'a wrong revision is reported before a used key',
  ],
  ['folds keys', broken.ClaimsWithoutCase, 'exact spelling'],
  ['writes payloads anew', broken.ReformatsJson, 'to the character'],
  ['reads every stream from its start', broken.ReadsFromTheStart, 'reading from a revision'],
  ['loses the last event of a message', broken.LosesLastEvent, 'gets every event whole'],
  ['hands a message out in reverse', broken.ReversesBatches, 'gets every event whole'],
  ['hands events out twice', broken.DeliversTwice, 'no event twice'],
  ['never says that it has caught up', broken.NeverCaughtUp, 'hears that it has caught up'],
  ['does not tell what it skipped', broken.SilentAboutSkipped, 'how far the others were skipped'],
  ['sends checkpoints ahead of events', broken.OvertakesWithCheckpoints, 'no checkpoint overtakes'],
  ['resumes with the event of the checkpoint', broken.ResumesInclusively, 'resuming after any event'],
  ['ignores the prefix', broken.IgnoresPrefix, 'lets only its streams pass'],
  ['ignores the batch size', broken.IgnoresBatchSize, 'than the batch size'],
  ['ignores the signal', broken.IgnoresSignal, 'the signal ends'],
  ['believes places beyond the end', broken.HasEveryPlace, 'none beyond the end'],
  ['does not notice later appends', broken.DeafToAppends, 'gets what is appended later'],
];

describe('the event store contract finds broken stores out', () => {
  test('a store that does nothing keeps not a single promise', async () => {
    const names = await namesOfFailures(() => new broken.NoOpEventStore());
    expect(names).toEqual(eventStoreCases.map(({ name }) => name));
  });

  test.each(flaws)('a store that %s', async (_, Store, promise) => {
    expect(await namesOfFailures(() => new Store(), promise)).not.toEqual([]);
  });
});
