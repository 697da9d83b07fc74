import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { UploadArea } from '../../../infrastructure/http/bodies/upload-area.ts';

describe('the upload folder', () => {
  test('is emptied at the start of what dead processes left, and of nothing else', async () => {
    const root = await mkdtemp(join(tmpdir(), 'area-'));
    const folders = [
      `${hostname()}-999999999`,
      `${hostname()}-${process.ppid}`,
      'other-host-1',
      `${hostname()}-${process.pid}`,
    ];
    for (const folder of folders) {
      await mkdir(join(root, folder));
      await writeFile(join(root, folder, 'left-over'), 'x');
    }
    const area = await UploadArea.open(root);
    expect((await readdir(root)).sort()).toEqual(folders.slice(1).sort());
    expect(await readdir(join(root, `${hostname()}-${process.pid}`))).toEqual([]);
    await area.close();
    await rm(root, { recursive: true });
  });
});
