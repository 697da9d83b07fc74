import { once } from 'node:events';
import { createServer } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Logger } from '../../application/ports/logger.ts';

interface ScrapedText {
  readonly contentType: string;
  text(): Promise<string>;
}

const SLOWEST_REQUEST_MS = 10_000;

const answer = async (
  scrape: ScrapedText,
  logger: Logger,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> => {
  if (req.url?.split('?')[0] !== '/metrics') return void res.writeHead(404).end();
  if (req.method !== 'GET') return void res.writeHead(405, { Allow: 'GET' }).end();
  try {
    const text = await scrape.text();
    res.writeHead(200, { 'Content-Type': scrape.contentType, 'Cache-Control': 'no-store' }).end(text);
  } catch (error) {
    logger.warn({ err: error }, 'metrics could not be collected');
    res.writeHead(500).end();
  }
};

/**
 * Serves GET /metrics, and nothing else, without a token: the address decides who reaches it. Undefined where the address cannot be used: a
 * second service on one machine starts all the same, and goes without metrics.
 */
export const serveMetrics = async (
  scrape: ScrapedText,
  address: { readonly host: string; readonly port: number },
  logger: Logger,
): Promise<{ close(): Promise<void> } | undefined> => {
  const server = createServer(
    { headersTimeout: SLOWEST_REQUEST_MS, requestTimeout: SLOWEST_REQUEST_MS },
    (req, res) => void answer(scrape, logger, req, res),
  );
  try {
    server.listen(address.port, address.host);
    await once(server, 'listening');
  } catch (error) {
    const reason = (error as Error).message;
    logger.warn({ ...address, reason }, 'no metrics: set METRICS_PORT to a free port, or to off');
    return undefined;
  }
  server.on('error', (error) => logger.warn({ err: error }, 'the address of the metrics is in trouble'));
  // This server alone keeps no process alive.
  server.unref();
  logger.info({ ...address }, 'metrics are served at /metrics');
  return {
    close: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
};
