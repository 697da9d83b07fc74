import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough } from 'node:stream';
import { describe, expect, test } from '@jest/globals';
import type { App } from '../../../application/app.ts';
import { Live } from '../../../infrastructure/console/live.ts';
import { ConsoleServer } from '../../support/console-server.ts';

describe('a stream of changes', () => {
  const open = (on: ConsoleServer, cookie: string): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      request({ port: on.port, host: '127.0.0.1', path: '/live', headers: { cookie }, agent: false }, resolve)
        .on('error', reject)
        .end();
    });
  const until = async (stream: IncomingMessage, wanted: string): Promise<void> => {
    let text = '';
    for await (const chunk of stream) if ((text += String(chunk)).includes(wanted)) return;
    throw new Error(`the stream ended with ${text}`);
  };

  test('that ended while a look was under way is not written to any more', async () => {
    const looked = Promise.withResolvers<string>();
    const live = new Live({ changes: () => looked.promise, onError: () => {}, lookEveryMs: 1 });
    const stream = Object.assign(new PassThrough(), { writeHead: () => {} });
    const broken: unknown[] = [];
    stream.on('error', (error) => broken.push(error));
    let goesOn = true;
    live.open(stream as unknown as ServerResponse, () => goesOn);
    goesOn = false;
    await once(stream, 'finish');
    looked.resolve('changed');
    await new Promise(setImmediate);
    expect([String(stream.read()), broken]).toEqual([': open\n\nevent: ended\ndata: -\n\n', []]);
  });

  test('tells that something has changed, ends with its session, and there are not more than sixteen', async () => {
    let state = 0;
    const service = {
      maintenance: { places: async () => [String(state)] },
      webhooks: { lag: { read: async () => [] } },
      audit: { background: { progress: '' } },
    } as unknown as App;
    const live = await ConsoleServer.open({ pages: [], service, liveLookEveryMs: 10 });
    try {
      const { cookie } = await live.enter();
      const streams = await Promise.all(Array.from({ length: 16 }, () => open(live, cookie)));
      expect((await open(live, cookie)).statusCode).toBe(503);
      const changing = setInterval(() => (state += 1), 20);
      await until(streams[0]!, 'event: changed');
      clearInterval(changing);
      live.elapsed = 1_800_000;
      await until(streams[1]!, 'event: ended');
    } finally {
      await live.close();
    }
  });
});
