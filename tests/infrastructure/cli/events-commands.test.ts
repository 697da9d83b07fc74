import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Publication } from '../../../application/publication/publication.ts';
import { expect, test } from '@jest/globals';
import { requireKnown } from '../../../application/loans/loans.ts';
import { loanStream } from '../../../application/command-handling/operation.ts';
import type { LogPosition } from '../../../application/ports/event-store.ts';
import type { PublicEvent } from '../../../application/ports/event-bus.ts';
import type { EventStreamQuery } from '../../../application/publication/event-stream.ts';
import { commandLine } from '../../support/command-line.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

/** app-1 and app-2 have OP-1, app-2 alone OP-2; none has a public event. */
const setUp = () => {
  const asked: EventStreamQuery[] = [];
  const clients = ['app-1', 'app-2'].map((applicationId) => ({ applicationId, name: applicationId }));
  const streams = new Set([
    loanStream('app-1', 'OP-1'),
    loanStream('app-2', 'OP-1'),
    loanStream('app-2', 'OP-2'),
  ]);
  const found: Parameters<typeof requireKnown>[0] = {
    registry: { list: async () => clients as never },
    events: { head: async (stream) => (streams.has(stream) ? 0n : 'no_stream') },
  };
  const stream: Publication['stream'] = async function* (query) {
    asked.push(query);
  };
  const publication = { stream } as unknown as Publication;
  const loans = {
    requireKnown: (code: string, application: string | undefined) => requireKnown(found, code, application),
  };
  const run = commandLine(() => ({
    publication,
    clients: { list: async () => clients as never },
    loans,
  }));
  return { asked, run: (...args: readonly string[]) => run('events', ...args) };
};

test.each([
  [['--code', 'OP-9'], 'no operation has the code OP-9'],
  [['--code', 'OP-9', '-o', 'json'], 'no operation has the code OP-9'],
  [['--code', 'OP-2', '--application', 'app-1'], 'no operation of application app-1 has the code OP-2'],
])('%j ends with 3 and names what is not there', async (options, message) => {
  const { run, asked } = setUp();
  expect(await run(...options)).toMatchObject({ code: 3, out: '', err: `error: ${message}\n` });
  expect(asked).toEqual([]);
});

test.each([
  [['--code', 'OP-1']],
  [['--code', 'OP-2', '--application', 'app-2']],
  // It may come yet.
  [['--code', 'OP-9', '--follow']],
])('%j is read', async (options: readonly string[]) => {
  const { run, asked } = setUp();
  expect(await run(...options)).toMatchObject({ code: 0, err: '' });
  expect(asked).toMatchObject([{ code: options[1] }]);
});

test('one that is interrupted is no whole report: it ends with 1 and leaves no file, but what is followed ends well', async () => {
  const directory = temporaryDirectory();
  const output = join(directory, 'events.json');
  const run = (...args: readonly string[]) => {
    const interrupted = new AbortController();
    const stream: Publication['stream'] = async function* () {
      yield {
        position: '1' as LogPosition,
        event: { applicationId: 'app-1', body: '{"a":1}' } as PublicEvent,
      };
      interrupted.abort();
    };
    const services = () => ({ publication: { stream } as unknown as Publication });
    return commandLine(services, { untilInterrupted: () => interrupted.signal })('events', ...args);
  };
  expect(await run()).toMatchObject({ code: 1, err: expect.stringContaining('interrupted before all') });
  expect(await run('--output', output)).toMatchObject({ code: 1 });
  expect(await readdir(directory)).toEqual([]);
  expect(await run('--follow', '--output', output)).toMatchObject({ code: 0, err: '' });
  expect(await readdir(directory)).toEqual(['events.json']);
});

test.each([
  ['--from', 'a printed position, an event_id'],
  ['--to', 'a printed position'],
])('%s says which forms are possible', async (option, forms) => {
  const { run, asked } = setUp();
  expect(await run(option, 'abc')).toMatchObject({
    code: 2,
    err: expect.stringContaining(`It must be ${forms} or an instant such as 2026-01-15T12:00:00Z`),
  });
  expect(asked).toEqual([]);
});

test('--from takes a position, an event and an instant', async () => {
  const { run, asked } = setUp();
  for (const from of ['4711', '01A21B35-03D2-7001-BD88-704705DACDD2', '2026-01-15T12:00:00Z'])
    expect((await run('--from', from)).code).toBe(0);
  expect(asked.map(({ from }) => from)).toEqual([
    { kind: 'position', position: '4711' },
    { kind: 'event', id: '01a21b35-03d2-7001-bd88-704705dacdd2' },
    { kind: 'instant', instant: '2026-01-15T12:00:00.000Z' },
  ]);
});
