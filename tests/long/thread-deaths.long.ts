import { afterEach, describe, expect, test } from '@jest/globals';
import { loanRequest, settlement } from '../support/api-client.ts';
import type { ApiClient } from '../support/api-client.ts';
import { killThread, startMortal, stopMortal, untilReady } from '../support/mortal-service.ts';

const INSTALLMENTS = 60;

afterEach(stopMortal);

/** Sends a request again until it is answered by anything but "unavailable". */
const settle = async (api: ApiClient, installment: number): Promise<void> => {
  const request = settlement('T-1', String(installment).padStart(3, '0'), 950);
  for (;;) {
    const { status } = await api.call('POST', '/installment/settle', request);
    if (status === 200) return;
    expect(status).toBe(503);
  }
};

describe('a thread that dies alone', () => {
  test.each(['event store writer', 'service.db', 'background'])(
    'costs nothing that was acknowledged: %s',
    async (part) => {
      const service = await startMortal();
      const api = await service.client();
      expect((await api.assign(loanRequest(api.fund, 'T-1', INSTALLMENTS))).status).toBe(201);
      await api.untilStatus('T-1', 'active');
      for (let installment = 1; installment <= INSTALLMENTS; installment++) {
        if (installment % 20 === 10) await killThread(part);
        await settle(api, installment);
      }
      await untilReady(service);
      const { body } = await api.loan('T-1');
      const settled = body.installments.filter((one: { status: string }) => one.status === 'settled');
      expect(settled).toHaveLength(INSTALLMENTS);
      await api.untilStatus('T-1', 'settled');
    },
    300_000,
  );
});
