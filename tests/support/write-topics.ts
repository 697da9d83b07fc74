import { writeFileSync } from 'node:fs';
import { publishedSchemasFile, publishedTopics, topicsFile, topicsText } from './published-topics.ts';

writeFileSync(topicsFile, topicsText());
// The test of the schemas says whether the change since the last time is one that readers can bear.
if (process.argv.includes('--schemas')) {
  const { channels, components } = publishedTopics();
  writeFileSync(
    publishedSchemasFile,
    `${JSON.stringify({ channels, schemas: components.schemas }, null, 2)}\n`,
  );
}
