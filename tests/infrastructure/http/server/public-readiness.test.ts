import { expect, test } from '@jest/globals';
import { publicReadiness } from '../../../../infrastructure/http/server/health-app.ts';
import { RecordingLogger } from '../../../support/recording-logger.ts';

test('strangers learn which check fails, the log why, once for each change', async () => {
  const logger = new RecordingLogger();
  let checks: Readonly<Record<string, string>> = { event_store: 'ok', relay: 'ok' };
  const look = publicReadiness(async () => checks, logger);
  expect(await look()).toEqual({ ready: true, checks });
  checks = { event_store: 'connect ECONNREFUSED 10.1.2.3:2113', relay: 'ok' };
  for (let i = 0; i < 3; i += 1) {
    expect(await look()).toEqual({ ready: false, checks: { event_store: 'failing', relay: 'ok' } });
  }
  checks = { event_store: 'ok', relay: 'ok' };
  await look();
  expect(logger.lines.map(({ level, message }) => [level, message])).toEqual([
    ['warn', 'not ready'],
    ['info', 'ready again'],
  ]);
  expect(JSON.stringify(logger.lines[0])).toContain('10.1.2.3:2113');
});
