import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The compiler writes anew what modules import, but not what declarations do: every compiler finds `./client.js`. */
const folder = fileURLToPath(new URL('../dist/', import.meta.url));
for (const name of globSync('**/*.d.ts', { cwd: folder })) {
  const text = readFileSync(`${folder}${name}`, 'utf8');
  writeFileSync(`${folder}${name}`, text.replace(/( from '\.[^']*)\.ts'/g, "$1.js'"));
}
