import { afterEach, describe, expect, test } from '@jest/globals';
import { killThread, readiness, startMortal, stopMortal, untilReady } from '../support/mortal-service.ts';

afterEach(stopMortal);

describe('the background thread', () => {
  test('is started again when it dies, and until then the service says that it is not ready', async () => {
    const service = await startMortal();
    await killThread('background');
    const { ok, body } = await readiness(service);
    expect(ok).toBe(false);
    expect(body).toContain('background');
    await untilReady(service);
    expect((await readiness(service)).body).toContain('"background":"ok"');
    expect(service.logger.lines.map(({ message }) => message)).toContain(
      'the background thread started again',
    );
  });
});
