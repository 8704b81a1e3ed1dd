import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { createClientAddress, createSubnets, isSubnet } from '../../server/http/client-address.ts';

const url = 'http://127.0.0.1:7070/';
const withHeader = (forwarded: string | null) =>
  new Request(url, { headers: forwarded === null ? {} : { 'x-forwarded-for': forwarded } });

type Case = [proxies: string[], peer: string, forwarded: string | null, address: string];
const cases: Case[] = [
  [[], '203.0.113.9', null, '203.0.113.9'],
  [[], '203.0.113.9', '198.51.100.1', '203.0.113.9'],
  [['10.0.0.0/8'], '10.1.2.3', null, '10.1.2.3'],
  [['10.0.0.0/8'], '10.1.2.3', '198.51.100.1', '198.51.100.1'],
  [['10.0.0.0/8'], '11.1.2.3', '198.51.100.1', '11.1.2.3'],
  // The client sent the first address itself.
  [['10.0.0.0/8'], '10.1.2.3', '192.0.2.66, 198.51.100.1', '198.51.100.1'],
  [['10.0.0.0/8'], '10.1.2.3', '192.0.2.66, 198.51.100.1, 10.9.9.9', '198.51.100.1'],
  [['10.0.0.0/8'], '10.1.2.3', '10.8.8.8, 10.9.9.9', '10.8.8.8'],
  [['127.0.0.1', '::1'], '::1', '2001:db8::5', '2001:db8::5'],
  [['2001:db8::/32'], '2001:db8::1', '[2001:db9::5]:443', '2001:db9::5'],
  [['10.0.0.0/8'], '10.1.2.3', '198.51.100.1:51234', '198.51.100.1'],
  [['10.0.0.0/8'], '::ffff:10.1.2.3', '::ffff:198.51.100.1', '198.51.100.1'],
  [[], '::ffff:198.51.100.1', null, '198.51.100.1'],
  [['10.0.0.0/8'], '10.1.2.3', 'unknown', '10.1.2.3'],
  [['10.0.0.0/8'], '10.1.2.3', '198.51.100.1, <script>', '10.1.2.3'],
  [['10.0.0.0/8'], '10.1.2.3', '', '10.1.2.3'],
  // A request of the MCP tools has no connection.
  [['10.0.0.0/8'], '', '198.51.100.1', ''],
];

test.each(cases)('%j, peer %s, X-Forwarded-For %j: %s', (...[proxies, peer, sent, want]) => {
  expect(createClientAddress(proxies, () => peer)(withHeader(sent))).toBe(want);
});

test('whatever a client sends, the result is the address of the peer or a valid one', () => {
  const addressOf = createClientAddress(['0.0.0.0/0', '::/0'], () => '10.1.2.3');
  const hop = fc.oneof(fc.ipV4(), fc.ipV6(), fc.ipV4Extended(), fc.string());
  const visible = /^[\x20-\x7e]*$/;
  fc.assert(
    fc.property(fc.array(hop), (hops) => {
      const sent = hops.join(', ');
      fc.pre(visible.test(sent));
      const address = addressOf(withHeader(sent));
      expect(createSubnets(['0.0.0.0/0', '::/0']).has(address)).toBe(true);
    }),
  );
});

const addresses = '10.1.2.3 ::1 10.0.0.0/8 2001:db8::/32 0.0.0.0/0 10.1.2.3/32 ::1/128';
const valid = addresses.split(' ');
const invalid = ['10.0.0.0/33', '::/129', '10.0.0/8', '10.0.0.0/', '10.0.0.0/8/8', '10.0.0.0/-1'];
test.each([...valid, ...invalid, 'localhost', '*', ''])('is %j an address or a subnet?', (text) => {
  expect(isSubnet(text)).toBe(valid.includes(text));
});
