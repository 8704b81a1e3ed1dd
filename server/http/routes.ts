import { type Operation, type OperationName, operations } from '../../sdk/contract/operations.ts';

export type RouteName = OperationName | 'live' | 'openapi';

/** Every route: the operations of the contract, and the routes that have no SDK method. */
export const routes: Record<RouteName, Operation> = {
  ...operations,
  live: { method: 'GET', path: '/health/live', success: 200 },
  openapi: { method: 'GET', path: '/openapi.json', success: 200 },
};
