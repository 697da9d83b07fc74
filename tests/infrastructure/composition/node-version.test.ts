import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const CHECK = './infrastructure/composition/node-version.mjs';
const startedBy = (version: string) => {
  const pretended = `Object.defineProperty(process,"versions",{value:{...process.versions,node:"${version}"}})`;
  const flags = ['--import', `data:text/javascript,${encodeURIComponent(pretended)}`, '--import', CHECK];
  return spawnSync(process.execPath, [...flags, '-e', ''], { cwd: ROOT, encoding: 'utf8' });
};

test('an older Node.js is told which one is needed, and how to get it', () => {
  const { status, stderr } = startedBy('20.20.2');
  expect(status).toBe(1);
  expect(stderr).toMatch(/^Node\.js 24 or later is needed; this is 20\.20\.2\. .*npm ci/);
});

test('a newer one starts without a word', () => {
  expect(startedBy('24.0.0')).toMatchObject({ status: 0, stderr: '' });
});

test('every script that starts the service or a command looks first', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  for (const name of ['start', 'dev', 'receivables']) expect(scripts[name]).toContain(`--import ${CHECK} `);
});
