import { constants, deflateRawSync } from 'node:zlib';

const MEGABYTE = 1024 * 1024;

/** A PDF of numbered objects, the first one its catalog, with a right cross-reference table. */
const pdfOf = (objects: readonly string[], trailer = ''): Buffer => {
  let text = '%PDF-1.7\n';
  const offsets: number[] = [];
  for (const [index, object] of objects.entries()) {
    offsets.push(text.length);
    text += `${index + 1} 0 obj\n${object}\nendobj\n`;
  }
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  const table = `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`;
  const end = `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${trailer} >>\nstartxref\n${text.length}\n%%EOF\n`;
  return Buffer.from(text + table + end, 'latin1');
};

const CATALOG = '<< /Type /Catalog /Pages 2 0 R >>';
const stream = (dictionary: string, bytes: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`<< ${dictionary} /Length ${bytes.length} >>\nstream\n`),
    bytes,
    Buffer.from('\nendstream\nendobj\n'),
  ]);

export const onePage = (padding = ''): Buffer =>
  pdfOf([
    CATALOG,
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] >>${padding}`,
  ]);

export const nestedPageTree = (depth: number): Buffer => {
  const nodes = Array.from(
    { length: depth },
    (_, index) => `<< /Type /Pages /Kids [${index + 3} 0 R] /Count 1 /Parent ${index + 1} 0 R >>`,
  );
  return pdfOf([CATALOG, ...nodes, '<< /Type /Page >>']);
};

export const circularPageTree = (): Buffer => pdfOf([CATALOG, '<< /Type /Pages /Kids [2 0 R] /Count 1 >>']);

/** The cross-reference table says that the one before it is itself. */
export const endlessXref = (): Buffer => {
  const body = `%PDF-1.7\n1 0 obj\n${CATALOG}\nendobj\n`;
  const table = 'xref\n0 1\n0000000000 65535 f \n';
  const trailer = `trailer\n<< /Size 5 /Root 1 0 R /Prev ${body.length} >>\nstartxref\n${body.length}\n%%EOF`;
  return Buffer.from(body + table + trailer);
};

export const nestedArrays = (depth: number): Buffer =>
  Buffer.from(`%PDF-1.7\n1 0 obj\n${'['.repeat(depth)}\nendobj\ntrailer << /Root 1 0 R >>`);

/** Megabytes of one byte in zlib's format: one packed megabyte, repeated. The checksum at the end is left out, as readers do not ask. */
const packed = (megabytes: number, byte: number): Buffer => {
  const block = deflateRawSync(Buffer.alloc(MEGABYTE, byte), { finishFlush: constants.Z_FULL_FLUSH });
  const blocks = Array.from({ length: megabytes }, () => block);
  return Buffer.concat([Buffer.from([0x78, 0x9c]), ...blocks, Buffer.from([0x03, 0x00])]);
};

/** A cross-reference stream that unpacks to so many megabytes of nothing. */
export const xrefBomb = (megabytes: number): Buffer => {
  const head = Buffer.from('%PDF-1.7\n');
  const dictionary = '/Type /XRef /Size 100000000 /W [1 4 2] /Root 2 0 R /Filter /FlateDecode';
  const bomb = packed(megabytes, 0);
  const end = Buffer.from(`startxref\n${head.length}\n%%EOF`);
  return Buffer.concat([head, Buffer.from('1 0 obj\n'), stream(dictionary, bomb), end]);
};

/** An object stream, where the catalog is said to be, that unpacks to so many megabytes of blanks. */
export const objectStreamBomb = (megabytes: number): Buffer => {
  const head = Buffer.from('%PDF-1.7\n');
  const dictionary = `/Type /ObjStm /N 2 /First ${megabytes * MEGABYTE - 1} /Filter /FlateDecode`;
  const bomb = stream(dictionary, packed(megabytes, 32));
  const objects = Buffer.concat([head, Buffer.from('4 0 obj\n'), bomb]);
  const row = (type: number, place: number, index: number): Buffer => {
    const bytesOfRow = Buffer.alloc(7);
    bytesOfRow.writeUInt8(type);
    bytesOfRow.writeUInt32BE(place, 1);
    bytesOfRow.writeUInt16BE(index, 5);
    return bytesOfRow;
  };
  const rows = [row(0, 0, 65_535), row(2, 4, 0), row(2, 4, 1), row(0, 0, 0), row(1, head.length, 0)];
  const xref = stream(
    '/Type /XRef /Size 6 /W [1 4 2] /Root 1 0 R',
    Buffer.concat([...rows, row(1, objects.length, 0)]),
  );
  const end = Buffer.from(`startxref\n${objects.length}\n%%EOF`);
  return Buffer.concat([objects, Buffer.from('5 0 obj\n'), xref, end]);
};

/** Protected by a password (RC4, 40 bits); the keys are made up, so no password opens it. */
export const encrypted = (): Buffer =>
  pdfOf(
    [
      CATALOG,
      '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
      '<< /Type /Page /Parent 2 0 R >>',
      `<< /Filter /Standard /V 1 /R 2 /P -44 /O <${'ab'.repeat(32)}> /U <${'cd'.repeat(32)}> >>`,
    ],
    `/Encrypt 4 0 R /ID [<${'00'.repeat(16)}> <${'00'.repeat(16)}>]`,
  );
