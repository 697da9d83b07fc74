import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import * as grpc from '@grpc/grpc-js';
import { StoreUnavailableError } from '../../../application/ports/event-store.ts';
import { EventStoreDbStore } from '../../../infrastructure/eventstoredb/event-store-db-store.ts';
import { failureOf, newPrefix, sampleEvents } from '../../contracts/event-store-samples.ts';
import { authority } from '../../support/certificates.ts';
import { EventStoreDbStandIn } from '../../support/eventstoredb/stand-in.ts';
import { temporaryDirectory } from '../../support/temporary-directory.ts';

test('TLS, its authority and the credentials come from the connection string', async () => {
  const directory = temporaryDirectory();
  const root = await authority();
  const { key, cert } = await root.leaf();
  const caFile = join(directory, 'ca.pem');
  await writeFile(caFile, root.caPem);
  const server = await EventStoreDbStandIn.start({
    credentials: grpc.ServerCredentials.createSsl(null, [
      { private_key: Buffer.from(key), cert_chain: Buffer.from(cert) },
    ]),
  });
  const host = `localhost:${server.port}`;
  const trusting = new EventStoreDbStore({ url: `esdb://ops:s%40cret@${host}?tlsCAFile=${caFile}` });
  const mistrusting = new EventStoreDbStore({ url: `esdb://ops:s%40cret@${host}` });
  const stream = `${newPrefix()}A`;
  await trusting.append(stream, 'no_stream', sampleEvents(1));
  await trusting.read(stream);
  const authorizations = new Set(server.faults.calls.map(({ authorization }) => authorization));
  expect([...authorizations]).toEqual([`Basic ${Buffer.from('ops:s@cret').toString('base64')}`]);
  expect(await failureOf(mistrusting.read(stream))).toBeInstanceOf(StoreUnavailableError);
  await Promise.all([trusting.close(), mistrusting.close()]);
  await server.kill();
});
