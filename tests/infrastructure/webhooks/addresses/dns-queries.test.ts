import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DnsQueries } from '../../../../infrastructure/webhooks/addresses/dns-queries.ts';
import { DnsServer } from '../../../support/dns-server.ts';
import { temporaryDirectory } from '../../../support/temporary-directory.ts';

const HOSTS = `# names of this machine
127.0.0.1	localhost Self   # and what else it is called
::1 self
10.1.2.3 inside.example alias.example
not-an-address broken.example
`;

let server: DnsServer;
const directory = temporaryDirectory();
let queries: DnsQueries;
beforeAll(async () => {
  await writeFile(join(directory, 'hosts'), HOSTS);
});
beforeEach(async () => {
  server = await DnsServer.start();
  queries = new DnsQueries({
    servers: [server.address],
    hostsFile: join(directory, 'hosts'),
    timeoutMs: 1_000,
  });
});
// A server of its own for each test: questions that were given up may still be repeated for a moment.
afterEach(() => server.close());

const code = (text: string) => expect.objectContaining({ code: text }) as unknown as Error;

describe('a name server is asked for', () => {
  test('both kinds of address at once', async () => {
    server.zones.set('receiver.example', { a: ['93.184.216.34'], aaaa: ['2606:2800:220:1::1'] });
    expect(await queries.addressesOf('receiver.example')).toEqual([
      { address: '93.184.216.34', family: 4 },
      { address: '2606:2800:220:1::1', family: 6 },
    ]);
    // A slow machine may be asked again.
    expect([...new Set(server.questions)].sort()).toEqual(['receiver.example A', 'receiver.example AAAA']);
  });

  test('one kind where the other does not exist', async () => {
    server.zones.set('v4.example', { a: ['93.184.216.34'] });
    server.zones.set('v6.example', { aaaa: ['2606:2800:220:1::1'] });
    expect(await queries.addressesOf('v4.example')).toEqual([{ address: '93.184.216.34', family: 4 }]);
    expect(await queries.addressesOf('v6.example')).toEqual([{ address: '2606:2800:220:1::1', family: 6 }]);
  });

  test('the end of a chain of other names', async () => {
    const cnames = ['one.example', 'two.example', 'three.example'];
    server.zones.set('alias-of.example', { cnames, a: ['10.0.0.7'] });
    expect(await queries.addressesOf('alias-of.example')).toEqual([{ address: '10.0.0.7', family: 4 }]);
  });

  test('more addresses than anybody needs: the first ones', async () => {
    const a = Array.from({ length: 60 }, (_, index) => `93.184.216.${index}`);
    server.zones.set('many.example', { a });
    const addresses = await queries.addressesOf('many.example');
    expect(addresses.map(({ address }) => address)).toEqual(a.slice(0, 32));
  });

  test('a name that does not exist, has no address, or that nobody answers for', async () => {
    server.zones.set('empty.example', {});
    server.zones.set('broken.example', 'failure');
    server.zones.set('silent.example', 'silence');
    await expect(queries.addressesOf('nowhere.example')).rejects.toEqual(code('ENOTFOUND'));
    await expect(queries.addressesOf('empty.example')).rejects.toEqual(code('ENODATA'));
    await expect(queries.addressesOf('broken.example')).rejects.toEqual(code('ESERVFAIL'));
    const startedAt = performance.now();
    await expect(queries.addressesOf('silent.example')).rejects.toEqual(code('ETIMEOUT'));
    expect(performance.now() - startedAt).toBeLessThan(15_000);
  });

  test('a name that is answered while others are not', async () => {
    server.zones.set('quick.example', { a: ['93.184.216.34'] });
    const silent = Array.from({ length: 40 }, (_, index) => `silent-${index}.example`);
    for (const name of silent) server.zones.set(name, 'silence');
    let failed = 0;
    const others = silent.map((name) => queries.addressesOf(name).catch(() => (failed += 1)));
    expect(await queries.addressesOf('quick.example')).toHaveLength(1);
    expect(failed).toBe(0);
    await Promise.all(others);
    expect(failed).toBe(silent.length);
  });
});

describe('no name server is asked for', () => {
  test.each([
    ['localhost', ['127.0.0.1']],
    ['LOCALHOST.', ['127.0.0.1']],
    ['api.localhost', ['127.0.0.1', '::1']],
    ['self', ['127.0.0.1', '::1']],
    ['Inside.Example', ['10.1.2.3']],
    ['alias.example', ['10.1.2.3']],
  ])('%s', async (name, addresses) => {
    expect((await queries.addressesOf(name)).map(({ address }) => address)).toEqual(addresses);
    expect(server.questions).toEqual([]);
  });

  test('localhost where there is no hosts file', async () => {
    const hostsFile = join(directory, 'missing');
    const without = new DnsQueries({ servers: [server.address], hostsFile });
    expect((await without.addressesOf('localhost')).map(({ address }) => address)).toEqual([
      '127.0.0.1',
      '::1',
    ]);
  });
});
