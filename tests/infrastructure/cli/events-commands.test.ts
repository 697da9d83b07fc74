import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Publication } from '../../../application/publication/publication.ts';
import { expect, test, afterAll, beforeAll, describe } from '@jest/globals';
import { requireKnown } from '../../../application/loans/loans.ts';
import { loanStream } from '../../../application/command-handling/operation.ts';
import type { LogPosition } from '../../../application/ports/event-store.ts';
import type { PublicEvent } from '../../../application/ports/event-bus.ts';
import type { EventStreamQuery, StreamedEvent } from '../../../application/publication/event-stream.ts';
import { commandLine } from '../../support/command-line.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NotAllowedError } from '../../../infrastructure/cli/command-line.ts';
import { WebhookForwarder } from '../../../infrastructure/webhooks/sending/forwarder.ts';

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

const event = (name: string, code: string): PublicEvent => ({
  ...{ eventId: `id-${code}`, name, applicationId: 'app-1', fundId: 'fund', code, sequence: 0 },
  timestamp: '2026-01-15T12:00:00.000Z',
  body: JSON.stringify({ event: name, code }),
});

interface Got {
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}
const got: Got[] = [];
const server = createServer((req, res) => {
  let body = '';
  req.on('data', (chunk: Buffer) => (body += chunk.toString()));
  req.on('end', () => {
    got.push({ headers: req.headers, body });
    res.writeHead(got.length === 2 ? 500 : 204).end();
  });
});
let url: string;
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
});
afterAll(() => void server.close());

describe('receivables listen', () => {
  test('posts each event signed with the secret that it prints, and r sends the last one again', async () => {
    const keys: ((key: string) => void)[] = [];
    const asked: EventStreamQuery[] = [];
    const read = async function* (query: EventStreamQuery): AsyncGenerator<StreamedEvent> {
      asked.push(query);
      yield { position: '1' as never, event: event('loan_received', 'OP-1') };
      yield { position: '2' as never, event: event('loan_approved', 'OP-2') };
      keys[0]!('x');
      keys[0]!('r');
    };
    const secret = 'whsec_of-this-run';
    const run = commandLine(
      () => ({
        publication: { stream: read as never },
        clients: {
          list: async () => [{ applicationId: 'app-1', name: 'Acme', fundIds: [] } as never],
        },
        loans: { now: () => '2026-01-15T11:00:00.000Z' },
        webhooks: {
          forwarder: (to: string) =>
            new WebhookForwarder({ url: to, secret, timeoutMs: 5_000, now: () => 1_768_478_400_000 }),
        },
      }),
      { onKey: (listener) => void keys.push(listener) },
    );
    const options = ['--application', 'Acme', '--events', 'loan_received,loan_approved'];
    const { code, err, lines } = await run('listen', '--forward-to', url, ...options);
    expect([code, err]).toEqual([0, '']);
    expect(lines[0]).toEqual({ forward_to: url, signing_secret: secret });
    expect(lines.slice(1).map(({ event_id: id, attempt, outcome }) => [id, attempt, outcome])).toEqual([
      ['id-OP-1', 1, '204'],
      ['id-OP-2', 1, '500'],
      ['id-OP-2', 2, '204'],
    ]);
    expect(asked).toEqual([
      {
        follow: true,
        from: { kind: 'instant', instant: '2026-01-15T11:00:00.000Z' },
        applicationId: 'app-1',
        names: ['loan_received', 'loan_approved'],
      },
    ]);
    expect(got).toHaveLength(3);
    for (const { headers, body } of got)
      expect(headers['x-svc-signature']).toBe(createHmac('sha256', secret).update(body).digest('hex'));
    expect(got[2]!.headers).toMatchObject({ 'x-svc-delivery-attempt': '2', 'x-svc-event': 'loan_approved' });
  });

  test.each([
    [['--forward-to', 'ftp://localhost/hook'], 2],
    [['--forward-to', 'http://user:pass@localhost/hook'], 2],
    [['--forward-to', 'http://localhost:1', '--events', 'loan_lost'], 2],
    [[], 2],
    [['--forward-to', 'http://localhost:1'], 3],
  ])('%j ends with %i', async (args, expected) => {
    const forwarder = (): never => {
      throw new NotAllowedError('a sandbox only');
    };
    expect((await commandLine(() => ({ webhooks: { forwarder } }))('listen', ...args)).code).toBe(expected);
  });
});

test('a receiver that is not there is said to be so', async () => {
  const forwarder = new WebhookForwarder({
    url: 'http://127.0.0.1:1/',
    secret: 's',
    timeoutMs: 5_000,
    now: Date.now,
  });
  expect(await forwarder.send(event('loan_received', 'OP-1'), 1, new AbortController().signal)).toMatch(
    /^connection refused$/,
  );
});
