import { CommandHandler } from '../../../application/command-handling/command-handler.ts';
import type { OnAppended } from '../../../application/command-handling/command-handler.ts';
import { Renegotiation } from '../../../application/renegotiation/renegotiation.ts';
import { KeptOperations } from '../../memory/kept-operations.ts';
import { pause } from '../../support/time.ts';
import { cacheBytes } from '../cache-shares.ts';
import type { Foundations } from '../foundations.ts';
import type { Adapters } from './adapters.ts';
import type { Documents } from './documents.ts';

/** The command handler and the renegotiations that may stand in its way, with the memory of operations that they share. */
export const commandArea = (
  { clock, realClock, configuration, observability }: Foundations,
  { events, vault, ownWrites }: Adapters,
  { store: documents, inspector }: Documents,
) => {
  // What follows the log decides now and then, and on other operations than requests do.
  const share = configuration.roles.includes('api') ? 'operations' : 'followedOperations';
  const cache = new KeptOperations(cacheBytes(configuration, share));
  const onAppended: OnAppended = (applicationId, stream, revision) =>
    ownWrites.note(applicationId, stream, revision);
  const renegotiation = new Renegotiation({
    ...{ events, clock, realClock, vault, documents, inspector, pause, onAppended },
    forget: (stream) => cache.delete(stream),
  });
  const handler = new CommandHandler({
    events,
    cache,
    clock,
    resolve: (id) => renegotiation.resolve(id),
    pause,
    watch: observability.commands,
    onAppended,
  });
  return { handler, renegotiation };
};

export type Commands = ReturnType<typeof commandArea>;
