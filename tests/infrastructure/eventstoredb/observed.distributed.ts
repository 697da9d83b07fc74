import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { EventStoreDbStandIn } from '../../support/eventstoredb/stand-in.ts';
import { OBSERVED, observe } from './observed-facts.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
/** Asks a server many more questions, and compares with the answers of a real one that lie beside it. */
const questions = join(ROOT, '..', 'shared', 'eventstoredb', 'observe.mjs');

const differences = async (url: string): Promise<string> => {
  const asking = promisify(execFile)(process.execPath, [questions, url], { cwd: ROOT });
  // It ends with code 1 where answers differ.
  const { stdout } = await asking.catch((error: { stdout: string }) => error);
  return stdout;
};

test('the stand-in answers no question otherwise than a real server did', async () => {
  const server = await EventStoreDbStandIn.start();
  if (existsSync(questions))
    expect(await differences(server.url)).toMatch(/^\d+ cases, 0 answered otherwise$/m);
  else expect(await observe(server.url)).toEqual(OBSERVED);
  await server.kill();
}, 300_000);
