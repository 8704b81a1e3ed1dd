import { BlockList, isIP } from 'node:net';

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
    const hops = request.headers.get('x-forwarded-for')?.split(',') ?? [];
    for (const hop of hops.reverse()) {
      if (!trusted.has(address)) break;
      const client = plainAddress(hop.trim());
      if (client === null) break;
      address = client;
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

/**
 * A set of IP addresses, given as addresses and as subnets such as `10.0.0.0/8`. Throws if an entry
 * is not valid; see `isSubnet`.
 */
export function createSubnets(entries: readonly string[]) {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/');
    if (prefix === undefined) list.addAddress(address, familyOf(address));
    else list.addSubnet(address, Number(prefix), familyOf(address));
  }
  return {
    has: (address: string) => isIP(address) !== 0 && list.check(address, familyOf(address)),
  };
}

export function isSubnet(text: string): boolean {
  const [, address = '', prefix = '0'] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  return isIP(address) !== 0 && Number(prefix) <= (isIP(address) === 6 ? 128 : 32);
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}
