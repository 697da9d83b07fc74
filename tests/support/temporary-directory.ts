import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ownTemporaryDirectory } from './own-temporary-directory.ts';

if (process.env['TESTS_TMPDIR'] === undefined) ownTemporaryDirectory();

/** An empty directory of its own. It goes with the file of tests, or the program, that made it. */
export const temporaryDirectory = (among = tmpdir()): string => mkdtempSync(join(among, 'receivables-'));
