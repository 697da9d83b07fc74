import { createRequire } from 'node:module';
import { join } from 'node:path';

const { resolve } = createRequire(import.meta.url);
const packageOf = (name: string, file: string): string => {
  const entry = resolve(name);
  const marker = join('node_modules', name);
  return join(entry.slice(0, entry.lastIndexOf(marker) + marker.length), file);
};
const own = (file: string): string => join(import.meta.dirname, 'assets', file);

/** Everything that a page loads, by its name: from the installed packages, or from `assets/`. Nothing comes from another host. */
export const ASSETS: ReadonlyMap<string, string> = new Map([
  ['pico.css', packageOf('@picocss/pico', 'css/pico.min.css')],
  ['console.css', own('console.css')],
  ['parts.css', own('parts.css')],
  ['htmx.js', packageOf('htmx.org', 'dist/htmx.min.js')],
  ['hx-sse.js', packageOf('htmx.org', 'dist/ext/hx-sse.min.js')],
  ['chart.js', packageOf('chart.js', 'dist/chart.umd.min.js')],
  ['pictures.js', own('pictures.js')],
  ['console.js', own('console.js')],
]);
