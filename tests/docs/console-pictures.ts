/** Takes the pictures of docs/console.md from those that `npm run test:browser -- console` has made of the running product. */
import { copyFileSync, mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..');
const TAKEN = ['decisions-preview', 'operation', 'portfolio', 'webhooks', 'reconciliation-result', 'audit'];
const LARGEST = 150_000;

const target = join(ROOT, 'docs', 'images', 'console');
mkdirSync(target, { recursive: true });
for (const name of TAKEN) {
  const source = join(ROOT, 'screenshots', 'console', `${name}-light-1400.png`);
  if (statSync(source).size > LARGEST) throw new Error(`${source} has more than ${LARGEST} bytes`);
  copyFileSync(source, join(target, `${name}.png`));
}
