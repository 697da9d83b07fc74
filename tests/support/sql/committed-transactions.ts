import { readFile } from 'node:fs/promises';

const WAL_HEADER = 32;
const FRAME_HEADER = 24;

/** Physical commits in a write-ahead log: frames that carry the size of the database after them (sqlite.org/fileformat2.html). */
export const committedTransactions = async (databasePath: string): Promise<number> => {
  const wal = await readFile(`${databasePath}-wal`);
  const pageSize = wal.readUInt32BE(8);
  const salt = wal.subarray(16, 24);
  let commits = 0;
  for (let at = WAL_HEADER; at + FRAME_HEADER + pageSize <= wal.length; at += FRAME_HEADER + pageSize) {
    if (!wal.subarray(at + 8, at + 16).equals(salt)) break;
    if (wal.readUInt32BE(at + 4) > 0) commits += 1;
  }
  return commits;
};
