import { describe, expect, test } from '@jest/globals';
import { NotAcceptedError } from '../../../application/ports/event-bus.ts';
import type { ListedTopic, Topics } from '../../../application/ports/event-bus.ts';
import type { Publication } from '../../../application/publication/publication.ts';
import { commandLine } from '../../support/command-line.ts';

const sound: ListedTopic = {
  topic: 'receivables.events',
  partitions: 24,
  spreadOver: 12,
  waiting: 7,
  copies: 3,
  minInsyncReplicas: 2,
  retentionMs: 1_209_600_000,
  problems: [
    {
      problem: 'has 24 partitions, operations are spread over 12',
      command: 'receivables topics accept-partitions receivables.events',
    },
  ],
};
const missing: ListedTopic = {
  ...{ topic: 'receivables.events.dead-letter', partitions: 0, spreadOver: undefined, waiting: 0, copies: 0 },
  ...{ minInsyncReplicas: undefined, retentionMs: undefined, problems: [] },
};

const run = (accept: Topics['acceptPartitions'] = async () => ({ before: 12, partitions: 24 })) =>
  commandLine(() => ({
    publication: {
      topics: async () => ({ list: async () => [sound, missing], acceptPartitions: accept }),
    } as unknown as Publication,
  }));

describe('topics', () => {
  test('list prints each topic with what it lacks and the command that mends it', async () => {
    const { code, lines } = await run()('topics', 'list');
    expect(code).toBe(0);
    expect(lines).toEqual([
      {
        ...{ topic: 'receivables.events', partitions: 24, spread_over: 12, waiting: 7, copies: 3 },
        ...{ min_insync_replicas: 2, retention_ms: 1_209_600_000 },
        problems: ['has 24 partitions, operations are spread over 12'],
        mend: ['receivables topics accept-partitions receivables.events'],
      },
      {
        ...{ topic: 'receivables.events.dead-letter', partitions: 0, waiting: 0, copies: 0 },
        ...{ problems: [], mend: [] },
      },
    ]);
  });

  test('a table leaves the commands out, which may be long', async () => {
    const { out } = await run()('topics', 'list', '-o', 'table');
    expect(out).toContain('has 24 partitions');
    expect(out).not.toContain('accept-partitions');
  });

  test('accept-partitions says what became of it', async () => {
    const { code, lines } = await run()('topics', 'accept-partitions', 'receivables.events');
    expect([code, lines]).toEqual([0, [{ topic: 'receivables.events', before: 12, partitions: 24 }]]);
  });

  test('accept-partitions ends with 3 as long as it is not allowed', async () => {
    const { code, err } = await run(async () => {
      throw new NotAcceptedError('7 messages wait');
    })('topics', 'accept-partitions', 'receivables.events');
    expect([code, err]).toEqual([3, expect.stringContaining('7 messages wait')]);
  });
});
