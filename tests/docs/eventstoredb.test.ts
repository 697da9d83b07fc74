import { execFile } from 'node:child_process';
import { symlink, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { openAtStandIn } from '../support/eventstoredb/open-store.ts';
import { MemoryDocuments, activeLoan, startProcess, streamOf } from '../support/renegotiation-world.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/within.ts';

const root = join(import.meta.dirname, '../..');

test("an auditor's own program reads an operation and follows the log, as the page has it", async () => {
  const page = await readFile(join(root, 'docs/eventstoredb.md'), 'utf8');
  const program = /^```js\n([\s\S]*?)^```/m.exec(page)![1]!;
  const directory = temporaryDirectory();
  await using world = await openAtStandIn();
  const documents = new MemoryDocuments();
  await activeLoan(startProcess(world.store, { documents }), documents, 'FIRST-1');
  const stream = streamOf('FIRST-1');
  await writeFile(join(directory, 'follow.mjs'), program);
  await symlink(join(root, 'node_modules'), join(directory, 'node_modules'));

  let shown = '';
  const env = { PATH: process.env['PATH'], EVENTSTORE_URL: world.server.url };
  const child = execFile(process.execPath, ['follow.mjs', stream], { cwd: directory, env });
  child.stdout!.on('data', (text: string) => (shown += text));
  child.stderr!.on('data', (text: string) => (shown += text));
  try {
    const linesOf = (what: string) => shown.split('\n').filter((line) => line.startsWith(`${what} `));
    const { events } = await world.store.read(stream);
    await until(() => linesOf('log').length === events.length, 'the events of the log');
    await activeLoan(startProcess(world.store, { documents }), documents, 'NEXT-1');
    const next = (await world.store.read(streamOf('NEXT-1'))).events;
    await until(() => linesOf('log').length === events.length + next.length, 'the events that came later');

    const told = (what: string, all: typeof events) =>
      all.map(
        ({ revision, type, metadata, ...one }) =>
          `${what} ${one.stream} ${revision} ${type} ${metadata.hash}`,
      );
    expect(events[0]).toMatchObject({
      type: 'loan.received.v1',
      metadata: { hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
    });
    expect(linesOf('stream')).toEqual(told('stream', events));
    expect(linesOf('log')).toEqual(told('log', [...events, ...next]));
  } finally {
    child.kill();
  }
});
