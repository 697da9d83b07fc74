import { expect, test } from '@jest/globals';
import { observedCommands } from '../../../infrastructure/observability/observed-work.ts';
import type { ServiceMetrics } from '../../../infrastructure/observability/service-metrics.ts';

test.each([
  ['administrator', 'administrator'],
  ['administrator/Ana Souza', 'administrator'],
  ['scheduler', 'scheduler'],
  ['client-1', 'client'],
])('a command of %s counts as one of the %s', async (actor, role) => {
  const counted: string[] = [];
  const handled = (by: string) => void counted.push(by);
  const metrics = { commands: { handled, refused: () => undefined } } as unknown as ServiceMetrics;
  const commands = observedCommands({
    metrics,
    tracer: { active: false } as never,
    logger: undefined as never,
  });
  await commands.run({ actor, stream: 's', correlationId: 'c' }, async () => ({ replayed: true }));
  expect(counted).toEqual([role]);
});
