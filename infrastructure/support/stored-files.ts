export const PDF = 'application/pdf';
export const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const UNKNOWN = 'application/octet-stream';

const SIGNATURES = [
  ['%PDF-', PDF],
  ['PK\u0003\u0004', DOCX],
] as const;

/** What the first bytes say. Names and declared types are their sender's and say nothing. */
const mediaTypeOf = (first: Uint8Array | undefined): string => {
  const start = Buffer.from(first?.subarray(0, 5) ?? []).toString('latin1');
  return SIGNATURES.find(([signature]) => start.startsWith(signature))?.[1] ?? UNKNOWN;
};

/**
 * A stored content with its first piece read, so that one that cannot be read is refused before an answer has begun.
 * @param done called once, when the pieces were read or are wanted no more; never when this throws
 */
export const begun = async (content: AsyncIterable<Uint8Array>, done?: () => void) => {
  const iterator = content[Symbol.asyncIterator]();
  const first = await iterator.next();
  const all = async function* (): AsyncGenerator<Uint8Array> {
    try {
      for (let step = first; !step.done; step = await iterator.next()) yield step.value;
    } finally {
      await iterator.return?.();
      done?.();
    }
  };
  return { mediaType: mediaTypeOf(first.done ? undefined : first.value), pieces: all() };
};

/** Control characters, line separators, marks of direction and whatever else of a name cannot be seen. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A name as people may see it: it looks like what it is. Earlier versions took names that do not. */
export const shownName = (name: string): string =>
  name.toWellFormed().replaceAll(UNSEEN, '').trim() || 'document';

/** What RFC 8187 lets stand as it is. */
const encoded = (name: string): string =>
  encodeURIComponent(name).replaceAll(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);

/**
 * A Content-Disposition whose name can neither leave the header nor hide a file. RFC 6266: plain ASCII first, for readers that know
 * nothing else, and the whole name where that differs.
 */
export const disposition = (kind: 'attachment' | 'inline', value: string): string => {
  const name = shownName(value).replace(/^\.+/, '') || 'document';
  const plain = name.replaceAll(/[^ !#$&'()+,\-.0-9;=@A-Z[\]^_`a-z{}~]/gu, '_');
  const full = plain === name ? '' : `; filename*=UTF-8''${encoded(name)}`;
  return `${kind}; filename="${plain}"${full}`;
};
