import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { testKafka } from '../../support/kafka/test-kafka.ts';
import type { TestKafka } from '../../support/kafka/test-kafka.ts';

const program = fileURLToPath(new URL('../../support/kafka/idle-consumer.ts', import.meta.url));

let kafka: TestKafka;
beforeAll(async () => void (kafka = await testKafka()));
afterAll(() => kafka.close());

/** The library's own timers would turn the loop a thousand times a second. In a process of its own: what other suites left turns no loop of it. */
test('a consumer without work lets the process sleep, and wakes up for the next event', async () => {
  const args = ['--disable-warning=ExperimentalWarning', program, kafka.brokers.join(','), kafka.prefix()];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(Number(stdout)).toBeLessThan(200);
});
