import { getDocument } from 'unpdf/pdfjs';
// Types only: the process may read no other file of the service.
import type { PdfVerdict } from './pdf-process.ts';

/*
 * Entry point of a process without rights: it gets contents over its standard input, each with its length in front, and answers a
 * line for each. @see PdfProcess
 */

const LENGTH_BYTES = 4;

const verdictOn = async (data: Uint8Array): Promise<PdfVerdict> => {
  const task = getDocument({ data, verbosity: 0, disableFontFace: true });
  try {
    const pdf = await task.promise;
    await pdf.getPage(1);
    return 'readable';
  } catch (error) {
    return error instanceof Error && error.name === 'PasswordException' ? 'password' : 'unreadable';
  } finally {
    await task.destroy();
  }
};

const answer = (line: PdfVerdict | 'ready'): void => void process.stdout.write(`${line}\n`);

let pieces: Buffer[] = [];
let held = 0;

const onPiece = (piece: Buffer): void => {
  pieces.push(piece);
  held += piece.length;
  if (held < LENGTH_BYTES) return;
  if (pieces[0]!.length < LENGTH_BYTES) pieces = [Buffer.concat(pieces)];
  if (held < LENGTH_BYTES + pieces[0]!.readUInt32BE()) return;
  const content = Buffer.concat(pieces).subarray(LENGTH_BYTES);
  pieces = [];
  held = 0;
  // A copy, because the parser transfers the bytes.
  void verdictOn(new Uint8Array(content)).then(answer);
};

// Ctrl-C reaches the whole group of processes; the service first finishes what is in flight, then ends this one.
process.on('SIGINT', () => undefined).on('SIGTERM', () => undefined);
process.stdin.on('data', onPiece).on('end', () => process.exit());
answer('ready');
