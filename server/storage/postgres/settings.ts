import { isLoaded, planForValues } from './citus.ts';
import { ConnectionLost, noPoolers } from './errors.ts';

/* What every session sets and checks when it is opened. */

/**
 * Replaces settings of the database user, which is often also given timeouts for people's queries.
 * The service sets its own limits, and its statements are written for READ COMMITTED.
 */
export const serviceSettings = {
  client_min_messages: 'warning',
  default_transaction_isolation: 'read committed',
  idle_in_transaction_session_timeout: '15s',
  idle_session_timeout: '0',
  lock_timeout: '5s',
  statement_timeout: '0',
  // Otherwise, the sessions of a machine that has vanished would stay open for two hours.
  tcp_keepalives_idle: '60s',
  tcp_keepalives_interval: '10s',
  tcp_keepalives_count: '6',
  tcp_user_timeout: '120s',
};

/** Not among the settings above, because PostgreSQL 16 rejects sessions with unknown settings. */
const turnOffTransactionTimeout = `CASE WHEN current_setting('transaction_timeout', true) IS NOT NULL
  THEN set_config('transaction_timeout', '0', false) END`;

/** With `off`, acknowledged writes can be lost. Others are set so that a reload keeps them. */
const keepCommitsDurable = `set_config('synchronous_commit',
  replace(current_setting('synchronous_commit'), 'off', 'on'), false)`;

/**
 * Adds the schema's object id to the session's name in pg_stat_activity, because services in
 * several schemas may share a database. The schema's name is not used, because it may be too long.
 * The id of the schema `public` is not added.
 */
const nameSchema = `set_config('application_name', concat_ws(' ',
  current_setting('application_name'),
  to_regnamespace(quote_ident(nullif(current_schema(), 'public')))::oid), false)`;

/**
 * Rejects a standby, whose data may be outdated, and a connection pooler, which may drop all
 * settings, even the schema.
 */
export async function checkServer(session: Bun.ReservedSQL): Promise<{ hasCitus: boolean }> {
  const [server] = await session.unsafe(
    `SELECT pg_is_in_recovery() AS "isStandby", ${isLoaded} AS "hasCitus",
       current_setting('lock_timeout') AS "lockTimeout",
       ${keepCommitsDurable}, ${nameSchema}, ${turnOffTransactionTimeout}`,
  );
  if (server?.isStandby === true) throw new ConnectionLost('the server is a standby');
  if (server?.lockTimeout !== serviceSettings.lock_timeout) {
    throw new ConnectionLost(`the settings of the session were dropped; ${noPoolers}`);
  }
  const hasCitus = server?.hasCitus === true;
  if (hasCitus) await session.unsafe(planForValues);
  return { hasCitus };
}
