import { isIP } from 'node:net';
import { createSubnets } from './subnets.ts';

/**
 * Returns a function that finds the address of a request's client. A proxy appends the address of
 * its own client to X-Forwarded-For, and the client may have sent the rest of the header. So only
 * what a trusted proxy has appended is believed.
 */
export function createClientAddress(
  trustedProxies: readonly string[],
  peerOf: (request: Request) => string,
): (request: Request) => string {
  const trusted = createSubnets(trustedProxies);
  return (request) => {
    let address = plainAddress(peerOf(request)) ?? '';
    if (!trusted.has(address)) return address;
    const hops = request.headers.get('x-forwarded-for')?.split(',') ?? [];
    for (const hop of hops.reverse()) {
      const client = plainAddress(hop.trim());
      if (client === null) break;
      address = client;
      if (!trusted.has(address)) break;
    }
    return address;
  };
}

/** Removes a port, and the prefix of an IPv4 address in IPv6 notation. Null if it is no address. */
function plainAddress(text: string): string | null {
  const [, bracketed, withPort] = /^\[(.+)\](?::\d+)?$|^([\d.]+):\d+$/.exec(text) ?? [];
  const address = (bracketed ?? withPort ?? text).replace(/^::ffff:(?=[\d.]+$)/i, '');
  return isIP(address) === 0 ? null : address;
}
