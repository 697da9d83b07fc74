import { afterEach, expect, test } from '@jest/globals';
import { ApiClient, loanRequest } from '../support/api-client.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { within } from '../support/within.ts';

/** Fails as nothing in the product should, on a signal: outside of every request, where nothing catches it. */
const failing = (how: string): readonly string[] => [
  '--import',
  `data:text/javascript,process.on('SIGUSR2',()=>{${encodeURIComponent(how)}})`,
];

let service: ServiceProcess | undefined;
let directory: Awaited<ReturnType<typeof temporaryDirectory>> | undefined;
afterEach(async () => {
  await service?.end('SIGKILL');
  await directory?.remove();
});

/** Node raises a rejection that nothing handles as an error that nothing catches: this is one way for both. */
test('a rejection that nothing handles is logged; the process answers what it has begun and ends with 1', async () => {
  directory = await temporaryDirectory();
  service = await ServiceProcess.start(
    directory.path,
    {},
    failing(`Promise.reject(new Error('out of nowhere'))`),
  );
  const api = new ApiClient(service.baseUrl, await service.printedClient());
  await api.token();
  const running = Array.from({ length: 10 }, (_each, i) => api.assign(loanRequest(api.fund, `L${i}`)));
  await running[0];
  process.kill(service.pid!, 'SIGUSR2');
  const answers = await Promise.allSettled(running);
  await within('the process has ended', 10_000, () => service!.exitCode !== null);
  expect(service.exitCode).toBe(1);
  expect(service.output).toContain('out of nowhere');
  expect(service.output).toContain('an error that nothing caught');
  const statuses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value.status] : []));
  expect(new Set(statuses)).toEqual(new Set([201]));
}, 40_000);
