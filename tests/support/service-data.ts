import { ServiceProcess } from './service-process.ts';

/** What a first start leaves in a data directory, with an application linked to the fund where one is named. */
export const makeServiceData = async (dataDir: string, fundId?: string): Promise<void> => {
  const service = await ServiceProcess.start(dataDir);
  if (fundId !== undefined) await service.createClient(fundId);
  await service.end('SIGTERM');
};
