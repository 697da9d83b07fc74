// What failed in a run of jest, from its results as JSON: for the end of a long log.
import { readFileSync } from 'node:fs';

const { testResults } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const LONGEST = 1_500;

for (const { name, status, message, assertionResults } of testResults) {
  if (status !== 'failed') continue;
  const failed = assertionResults.filter((one) => one.status === 'failed');
  console.log(`\nFAIL ${name.slice(name.lastIndexOf('/tests/') + 1)}`);
  for (const { fullName, failureMessages } of failed)
    console.log(`  ● ${fullName}\n${failureMessages.join('\n').slice(0, LONGEST)}`);
  if (failed.length === 0) console.log(message.slice(0, LONGEST));
}
