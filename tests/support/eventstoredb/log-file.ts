import {
  closeSync,
  fdatasyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { ProposedEvent } from './event-log.ts';

/** One append, which is one line of the file: whole, or cut off and therefore not there. */
export interface StoredAppend {
  readonly stream: string;
  readonly created: string;
  readonly events: readonly ProposedEvent[];
}

interface Line {
  readonly stream: string;
  readonly created: string;
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
  readonly #path: string;
  readonly #file: number;
  #dirty = false;

  constructor(directory: string) {
    mkdirSync(directory, { recursive: true });
    this.#path = join(directory, 'log.jsonl');
    this.#file = openSync(this.#path, 'a+');
  }

  load(): readonly StoredAppend[] {
    const bytes = readFileSync(this.#path);
    const whole = bytes.lastIndexOf(10) + 1;
    if (whole < bytes.length) ftruncateSync(this.#file, whole);
    return bytes.subarray(0, whole).toString('utf8').split('\n').filter(Boolean).map(fromLine);
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
