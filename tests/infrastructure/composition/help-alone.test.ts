import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const STORES =
  /node_modules\/(kysely|pg|inversify|express)\/|infrastructure\/(sqlite|postgres\/postgres-|embedded)/;
const REFUSING_THEM = `import { registerHooks } from 'node:module';
registerHooks({ load: (url, context, next) => {
  if (${String(STORES)}.test(url)) throw new Error('help needs ' + url);
  return next(url, context);
} });`;

test('help is answered without what reaches the stores', async () => {
  const hook = `data:text/javascript,${encodeURIComponent(REFUSING_THEM)}`;
  const args = ['--disable-warning=ExperimentalWarning', '--import', hook];
  const command = [...args, 'infrastructure/composition/receivables.ts', '--help'];
  const { stdout } = await promisify(execFile)(process.execPath, command, { cwd: ROOT });
  expect(stdout).toContain('Usage: receivables');
});
