import { crc32, deflateRawSync } from 'node:zlib';

interface ZipEntry {
  readonly name: string;
  readonly content: Buffer | string;
}

/** A zip archive, deflated. */
export const zipOf = (entries: readonly ZipEntry[]): Buffer => {
  const locals: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content } of entries) {
    const plain = Buffer.from(content);
    const packed = deflateRawSync(plain);
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(8, 4);
    common.writeUInt32LE(crc32(plain), 10);
    common.writeUInt32LE(packed.length, 14);
    common.writeUInt32LE(plain.length, 18);
    common.writeUInt16LE(name.length, 22);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    const local = Buffer.concat([Buffer.from('PK\u0003\u0004'), common, Buffer.from(name), packed]);
    directory.push(Buffer.from('PK\u0001\u0002'), Buffer.from([20, 0]), common, place, Buffer.from(name));
    locals.push(local);
    offset += local.length;
  }
  return Buffer.concat([
    ...locals,
    ...directory,
    endRecord(entries.length, Buffer.concat(directory).length, offset),
  ]);
};

const endRecord = (count: number, size: number, offset: number): Buffer => {
  const end = Buffer.alloc(22);
  end.write('PK\u0005\u0006', 'latin1');
  end.writeUInt16LE(Math.min(count, 65_535), 8);
  end.writeUInt16LE(Math.min(count, 65_535), 10);
  end.writeUInt32LE(size, 12);
  end.writeUInt32LE(offset, 16);
  return end;
};

export const wordDocument = (body: Buffer | string = '<w:document/>'): Buffer =>
  zipOf([
    { name: '[Content_Types].xml', content: '<Types/>' },
    { name: '_rels/.rels', content: '<Relationships/>' },
    { name: 'word/document.xml', content: body },
  ]);
