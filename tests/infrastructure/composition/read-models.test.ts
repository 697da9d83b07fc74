import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from '@jest/globals';
import { logOrder } from '../../../infrastructure/composition/read-models.ts';
import { loanRequest } from '../../support/api-client.ts';
import { RunningService } from '../../support/running-service.ts';

const running = await RunningService.start({}, { background: 'here' });
afterAll(() => running.stop());

test('read models hold everything that was stored before they were asked to catch up, where a service in the same process follows the log as well', async () => {
  const { eventStore, readModels, projectionStore, generations } = running.service.parts;
  const fund = randomUUID();
  const api = await running.client(fund);
  for (const code of ['A', 'B', 'C']) {
    expect((await api.assign(loanRequest(fund, code, 2))).status).toBe(201);
    const end = await eventStore.end();
    for (const { name, catchUp } of readModels.all) {
      await catchUp();
      const projection = generations.projections.find((one) => one.name === name)!;
      const place = await projectionStore.checkpoint(projection);
      expect([name, logOrder.compare(place, end) >= 0]).toEqual([name, true]);
    }
  }
  // Which goes on behind it.
  for (const one of readModels.projectors) expect(one.status().state).toBe('running');
});
