import type { CliCommand } from './cli-command.ts';
import type { ListedTopic } from '../../application/ports/event-bus.ts';
import { asColumns } from '../presenting/columns.ts';
import { configuring } from './desk-lines.ts';

const COLUMNS = asColumns<ListedTopic>([
  'topic',
  'partitions',
  'spread_over',
  'waiting',
  'copies',
  'min_insync_replicas',
  'retention_ms',
  { name: 'problems', of: ({ problems }) => problems.map(({ problem }) => problem) },
  { name: 'mend', of: ({ problems }) => problems.map(({ command }) => command), table: false },
]);

export const addTopicCommands = (program: CliCommand): void => {
  const topics = program
    .command('topics')
    .description('the Kafka topics of events and decisions: copies, retention, partitions')
    .told('', 'topics list');
  topics
    .command('list')
    .description('each topic as it is, what it lacks, and (in JSON) the command that mends it')
    .told(
      'spread_over is the number of partitions that operations are spread over; waiting counts the messages in them that are not\n' +
        'handled yet.',
      'topics list -o json',
    )
    .listing(COLUMNS, async ({ publication }) => (await publication.topics()).list());
  topics
    .command('accept-partitions')
    .description('spread operations over all partitions of a topic that got more of them')
    .argument('<topic>', 'name of the topic, with its prefix')
    .told(
      'Until then nothing is published to the topic, and its new partitions are not read. Takes 15 seconds. Ends with 3 and changes\n' +
        'nothing while messages of before wait, or while something is published. Prints {topic, before, partitions}.',
      'topics accept-partitions receivables.events',
    )
    .answering(async (services, topic: string) => {
      const topics = await services.publication.topics();
      const accept = () => topics.acceptPartitions(topic);
      return { topic, ...(await configuring(services, { decision: 'accept_partitions' }, accept)) };
    });
};
