import { closeSync, fdatasyncSync, ftruncateSync, mkdirSync, openSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import type { ProposedEvent } from './event-log.ts';

/** One append, which is one line of the file: whole, or cut off and therefore not there. */
interface StoredAppend {
  readonly stream: string;
  readonly created: number;
  readonly events: readonly ProposedEvent[];
}

const NEW_LINE = 10;

interface Line {
  readonly stream: string;
  readonly created: number;
  readonly events: readonly (readonly [
    id: string,
    type: string,
    contentType: string,
    data: string,
    metadata: string,
  ])[];
}

const toLine = ({ stream, created, events }: StoredAppend): string => {
  const line: Line = {
    stream,
    created,
    events: events.map(({ id, type, contentType, data, metadata }) => [
      id,
      type,
      contentType,
      data.toString('base64'),
      metadata.toString('base64'),
    ]),
  };
  return `${JSON.stringify(line)}\n`;
};

const fromLine = (text: string): StoredAppend => {
  const { stream, created, events } = JSON.parse(text) as Line;
  return {
    stream,
    created,
    events: events.map(([id, type, contentType, data, metadata]) => ({
      id,
      type,
      contentType,
      data: Buffer.from(data, 'base64'),
      metadata: Buffer.from(metadata, 'base64'),
    })),
  };
};

/** The stand-in's disk: it may be killed at any moment and started again on the same directory. */
export class LogFile {
  readonly #file: number;
  #dirty = false;

  constructor(directory: string) {
    mkdirSync(directory, { recursive: true });
    this.#file = openSync(join(directory, 'log.jsonl'), 'a+');
  }

  /** Piece by piece: the file may be larger than any string. What was cut off at its end goes. */
  *load(): Generator<StoredAppend> {
    const piece = Buffer.allocUnsafe(1 << 20);
    let [rest, whole] = [Buffer.alloc(0), 0];
    for (let at = 0, read = 0; (read = readSync(this.#file, piece, 0, piece.length, at)) > 0; at += read) {
      const bytes = Buffer.concat([rest, piece.subarray(0, read)]);
      const end = bytes.lastIndexOf(NEW_LINE) + 1;
      for (const line of bytes.toString('utf8', 0, end).split('\n')) if (line !== '') yield fromLine(line);
      rest = bytes.subarray(end);
      whole += end;
    }
    if (rest.length > 0) ftruncateSync(this.#file, whole);
  }

  write(append: StoredAppend): void {
    writeSync(this.#file, toLine(append));
    this.#dirty = true;
  }

  sync(): void {
    if (this.#dirty) fdatasyncSync(this.#file);
    this.#dirty = false;
  }

  close(): void {
    closeSync(this.#file);
  }
}
