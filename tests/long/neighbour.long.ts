import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Neighbour } from '../support/neighbour.ts';

/** Answers every request with 200, but /block after half a second of processor time, and /fail by making the next answers 503. */
const PROGRAM = `
let fails = false;
const server = require('node:http').createServer((req, res) => {
  if (req.url === '/block') for (const from = process.cpuUsage(); process.cpuUsage(from).user < 500_000; );
  if (req.url === '/fail') fails = true;
  res.writeHead(fails ? 503 : 200, { 'content-type': 'application/json' });
  res.end('{"access_token":"t"}');
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));`;

let child: ChildProcess;
let baseUrl: string;
let neighbour: Neighbour;

beforeEach(async () => {
  child = spawn(process.execPath, ['-e', PROGRAM], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [port] = (await once(child.stdout!, 'data')) as [Buffer];
  baseUrl = `http://127.0.0.1:${port.toString().trim()}`;
  neighbour = await Neighbour.of({
    baseUrl,
    pid: child.pid,
    createClient: async (fund) => ({
      client_id: 'c',
      client_secret: 's',
      application_id: 'a',
      fund_ids: [fund],
    }),
  });
});

afterEach(async () => {
  await neighbour.leave();
  child.kill('SIGKILL');
});

describe('the neighbour that measures', () => {
  test('finds nothing while nothing delays its answers', async () => {
    const { calm, attacked } = await neighbour.livesThrough(
      () => new Promise((resolve) => setTimeout(resolve, 200)),
    );
    expect(Math.min(calm.answers, attacked.answers)).toBeGreaterThan(0);
  });

  test('finds an answer that the work of another request held up', async () => {
    await expect(neighbour.livesThrough(() => fetch(`${baseUrl}/block`))).rejects.toThrow('disturbed');
  });

  test('finds an answer that is a failure, and a service that ended', async () => {
    const failing = await neighbour.during(async () => {
      await fetch(`${baseUrl}/fail`);
    });
    expect(failing.attacked.failures).toContain(503);
    const ending = neighbour.livesThrough(async () => {
      child.kill('SIGKILL');
      await once(child, 'exit');
    });
    await expect(ending).rejects.toThrow(/ECONN/);
  });
});
