import { BlockList, isIP } from 'node:net';

/** A set of IP addresses, given as addresses and as subnets such as `10.0.0.0/8`. */
type Subnets = { has(address: string): boolean };

/** Throws if an entry is not valid; see `isSubnet`. */
export function createSubnets(entries: readonly string[]): Subnets {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/');
    if (prefix === undefined) list.addAddress(address, familyOf(address));
    else list.addSubnet(address, Number(prefix), familyOf(address));
  }
  return { has: (address) => isIP(address) !== 0 && list.check(address, familyOf(address)) };
}

export function isSubnet(text: string): boolean {
  const [, address = '', prefix = '0'] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const bits = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return Number(prefix) <= bits;
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4';
}
