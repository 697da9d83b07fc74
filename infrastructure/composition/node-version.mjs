/*
 * Preloaded before everything else, and plain JavaScript, so that a Node.js that does not run TypeScript says what is missing instead of
 * `Unknown file extension`.
 */
const NEEDED = 24;
const { node } = process.versions;
if (Number(node.split('.')[0]) < NEEDED) {
  process.stderr.write(
    `Node.js ${NEEDED} or later is needed; this is ${node}. npm ci brings one into node_modules/.bin, unless install scripts are refused ` +
      '(npm ci --ignore-scripts): allow them, or put a newer Node.js on the PATH.\n',
  );
  process.exit(1);
}
