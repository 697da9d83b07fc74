import type { Logger } from '../../application/ports/logger.ts';

/** Keeps what was logged. */
export class RecordingLogger implements Logger {
  readonly lines: { readonly level: string; readonly fields: object; readonly message: string }[] = [];

  error(fields: object, message: string): void {
    this.lines.push({ level: 'error', fields, message });
  }
  warn(fields: object, message: string): void {
    this.lines.push({ level: 'warn', fields, message });
  }
  info(fields: object, message: string): void {
    this.lines.push({ level: 'info', fields, message });
  }
  debug(fields: object, message: string): void {
    this.lines.push({ level: 'debug', fields, message });
  }
}
