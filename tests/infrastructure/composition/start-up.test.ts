import { createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { StoreUnavailableError } from '../../../application/ports/event-store.ts';
import { openConsole } from '../../../infrastructure/composition/console.ts';
import { readConfiguration } from '../../../infrastructure/composition/configuration.ts';
import { ConfigurationError } from '../../../infrastructure/composition/environment-reader.ts';
import { StartAbandonedError, retryUntilAvailable } from '../../../infrastructure/composition/start-retry.ts';
import { startUp } from '../../../infrastructure/composition/run-service.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { freePort } from '../../support/service-process.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

describe('a start whose database is away', () => {
  const cleanUps: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  });

  /** With a database that nobody serves, unless it says otherwise. */
  const begin = async (
    engines?: Readonly<Record<string, string>>,
  ): Promise<{ baseUrl: string; service: ReturnType<typeof startUp>; logger: RecordingLogger }> => {
    const [port, nobody] = [await freePort(), await freePort()];
    const logger = new RecordingLogger();
    const configuration = readConfiguration({
      HOST: '127.0.0.1',
      PORT: String(port),
      DATA_DIR: temporaryDirectory(),
      METRICS_PORT: 'off',
      ...(engines ?? { DATABASE_URL: `postgres://nobody:secret@127.0.0.1:${nobody}/none` }),
    });
    const service = startUp(configuration, logger);
    service.running.catch(() => undefined);
    cleanUps.push(() => service.stop());
    return { baseUrl: `http://127.0.0.1:${port}`, service, logger };
  };

  const answering = async (url: string, status: number, text: string): Promise<Response> => {
    const deadline = Date.now() + 60_000;
    for (;;) {
      const response = await fetch(url).catch(() => undefined);
      if (response?.status === status && (await response.clone().text()).includes(text)) return response;
      if (Date.now() > deadline) throw new Error(`${url} did not answer ${status} ${text}`);
      await wait(20);
    }
  };

  test('lives, is not ready, and says what it waits for', async () => {
    const { baseUrl, logger } = await begin();
    await answering(`${baseUrl}/health/live`, 200, '"status":"ok"');
    const ready = await answering(`${baseUrl}/health/ready`, 503, 'service_store: failing');
    expect(ready.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    const call = await answering(`${baseUrl}/loan/L-1`, 503, 'service_unavailable');
    expect(call.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
    expect(await call.json()).toMatchObject({ retryable: true });
    const errors = logger.lines.filter(({ level }) => level === 'error');
    expect(errors.map(({ message }) => message)).toEqual([
      'start: service_store: failed; trying again until it works',
    ]);
    expect(JSON.stringify(logger.lines)).not.toContain('secret');
  });

  test('is refused where the address of an engine can never be used, and says which', async () => {
    const wrong = readConfiguration({
      ...{ HOST: '127.0.0.1', PORT: String(await freePort()), METRICS_PORT: 'off' },
      DATA_DIR: temporaryDirectory(),
      EVENTSTORE_URL: 'esdb://user:secret@',
    });
    const { running } = startUp(wrong, new RecordingLogger());
    await expect(running).rejects.toThrow(/^EVENTSTORE_URL cannot be used: [^\n]*esdb:\/\/host:2113/);
    await expect(running).rejects.toBeInstanceOf(ConfigurationError);
  });

  test('can be stopped', async () => {
    const { baseUrl, service } = await begin();
    await answering(`${baseUrl}/health/ready`, 503, 'service_store');
    await service.stop();
    await expect(service.running).rejects.toBeInstanceOf(StartAbandonedError);
    await expect(fetch(`${baseUrl}/health/live`)).rejects.toThrow();
  });

  test('can be stopped while its engines open', async () => {
    const { baseUrl, service } = await begin({});
    await answering(`${baseUrl}/health/live`, 200, '"status":"ok"');
    await service.stop();
    await expect(service.running).rejects.toBeInstanceOf(StartAbandonedError);
  });

  test('ends at once when its address is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    cleanUps.push(() => new Promise((resolve) => other.close(resolve)));
    await new Promise((resolve) => other.once('listening', resolve));
    const { port } = other.address() as { port: number };
    const taken = readConfiguration({ HOST: '127.0.0.1', PORT: String(port) });
    await expect(startUp(taken, new RecordingLogger()).running).rejects.toThrow(/EADDRINUSE/);
    const parts = { logger: new RecordingLogger(), clock: new ManualClock(), realClock: new ManualClock() };
    const console = openConsole(parts as never, { host: '127.0.0.1', port, readOnly: true, idleMs: 1 });
    await expect(console).rejects.toThrow(/^--host and --port [^\n]*EADDRINUSE[^\n]*$/);
  });
});

describe('a step of the start that is tried again', () => {
  const retrying = (logger = new RecordingLogger()) => {
    const waits: (string | undefined)[] = [];
    const signal = new AbortController().signal;
    return {
      logger,
      waits,
      ...retryUntilAvailable({ logger, signal, onWaiting: (what) => void waits.push(what) }),
    };
  };

  test('lasts until the engine is there, with one line at the beginning and one at the end', async () => {
    const { until, waits, logger } = retrying();
    let tries = 0;
    const open = (): Promise<string> =>
      ++tries < 3 ? Promise.reject(new StoreUnavailableError('not yet')) : Promise.resolve('open');
    expect(await until('read_model', open)).toBe('open');
    expect(waits).toEqual(['read_model', 'read_model', undefined]);
    const told = logger.lines.filter(({ level }) => level !== 'debug').map(({ level }) => level);
    expect(told).toEqual(['error', 'info']);
  });

  test('is for engines that are away, not for what would fail again', async () => {
    const { until } = retrying();
    await expect(until('read_model', () => Promise.reject(new Error('too old')))).rejects.toThrow('too old');
  });
});
