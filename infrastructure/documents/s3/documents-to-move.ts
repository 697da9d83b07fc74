import { createHash } from 'node:crypto';
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { MoveFailedError } from '../../../application/maintenance/moving/what-moves.ts';
import { ifThere } from '../../support/durable-files.ts';
import { keyIdOf } from '../sealed-content.ts';
import type { S3Bucket } from './s3-bucket.ts';
import { KEY_ID, objectOf } from './s3-bucket.ts';

const DIGEST = /^[0-9a-f]{64}$/;
const IN_FLIGHT = 8;

const digest = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

const digestsIn = async (folder: string): Promise<readonly string[]> =>
  ((await ifThere(readdir(folder))) ?? []).filter((name) => DIGEST.test(name));

/** Copies sealed files into a bucket, byte for byte: both stores keep the same bytes under the same names. */
export class DocumentsToMove {
  readonly #root: string;
  readonly #bucket: S3Bucket;

  constructor(dataDir: string, bucket: S3Bucket) {
    this.#root = join(dataDir, 'documents');
    this.#bucket = bucket;
  }

  async count(): Promise<number> {
    let count = 0;
    for (const folder of await digestsIn(this.#root))
      count += (await digestsIn(join(this.#root, folder))).length;
    return count;
  }

  /** @throws MoveFailedError the bucket gives back something else */
  async copy(moved: (documents: number) => void): Promise<void> {
    await this.#bucket.check();
    for (const folder of await digestsIn(this.#root)) {
      const names = await digestsIn(join(this.#root, folder));
      for (let at = 0; at < names.length; at += IN_FLIGHT) {
        const some = names.slice(at, at + IN_FLIGHT);
        await Promise.all(some.map((name) => this.#copyOne(`${folder}/${name}`)));
        moved(some.length);
      }
    }
  }

  async #copyOne(name: string): Promise<void> {
    const sealed = await readFile(join(this.#root, name));
    const there = await this.#bucket.get(objectOf(name));
    if (there && digest(there) === digest(sealed)) return;
    await this.#bucket.put(objectOf(name), new Uint8Array(sealed), {
      'content-type': 'application/octet-stream',
      [KEY_ID]: keyIdOf(sealed) ?? '',
    });
    const stored = await this.#bucket.get(objectOf(name));
    if (!stored || digest(stored) !== digest(sealed))
      throw new MoveFailedError(`document ${name} is not in the bucket as it was stored`);
  }
}
