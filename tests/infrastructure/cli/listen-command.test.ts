import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { PublicEvent } from '../../../application/ports/event-bus.ts';
import type { EventStreamQuery, StreamedEvent } from '../../../application/publication/event-stream.ts';
import { NotAllowedError } from '../../../infrastructure/cli/command-line.ts';
import { WebhookForwarder } from '../../../infrastructure/webhooks/sending/forwarder.ts';
import { commandLine } from '../../support/command-line.ts';

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
