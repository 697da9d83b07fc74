import { expect, test } from '@jest/globals';
import { EventStoreDbStandIn } from '../support/eventstoredb/stand-in.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

test('without the right to follow the log, status and doctor say so and name the way out', async () => {
  const server = await EventStoreDbStandIn.start();
  let service: ServiceProcess | undefined;
  try {
    service = await ServiceProcess.start(temporaryDirectory(), {
      EVENTSTORE_URL: server.url,
      LOG_LEVEL: 'error',
    });
    server.faults.mayReadAll = false;
    const status = JSON.parse(await service.receivables('status', '-o', 'json')) as {
      readonly lag: readonly { readonly problem?: string }[];
    };
    expect(status.lag.length).toBeGreaterThan(0);
    for (const { problem } of status.lag) expect(problem).toContain('may not read $all');
    const refusal = service.receivables('doctor');
    await expect(refusal).rejects.toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /"event_store_rights","state":"failed","detail":"read \$all: .*docs\/eventstoredb\.md/,
      ),
    });
  } finally {
    await service?.end('SIGKILL');
    await server.kill();
  }
}, 300_000);
