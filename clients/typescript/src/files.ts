import { jsonOf } from './json.ts';

/** A file to upload, under the name that its document has as `value`. */
export interface UploadedFile {
  readonly name: string;
  readonly content: Blob | Uint8Array | string;
}

const TYPES: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
};

const typeOf = (name: string): string =>
  TYPES[name.split('.').at(-1)?.toLowerCase() ?? ''] ?? 'application/octet-stream';

/** A form with the data as JSON in a part of its own, and each file in a part `files`. */
export const formOf = (part: string, data: object, files: readonly UploadedFile[]): FormData => {
  const form = new FormData();
  form.set(part, jsonOf(data));
  for (const { name, content } of files) {
    const blob = content instanceof Blob ? content : new Blob([content], { type: typeOf(name) });
    form.append('files', blob, name);
  }
  return form;
};
