/* One example for each type of record: data that a shop's systems store about its customer u-1. */

export const ticket = {
  userId: 'u-1',
  source: 'zendesk',
  externalId: '1182',
  data: {
    subject: 'Refund for order 5512',
    comments: [
      { author: 'user', content: 'Where is my refund?', timestamp: '2026-11-19T08:30:00Z' },
      { author: 'agent', content: 'It is on its way.' },
    ],
    status: 'open',
    priority: 'high',
  },
};

export const document = {
  userId: 'u-1',
  data: {
    text: 'Returns are accepted within 30 days of delivery.\n\nShipping is not refunded.',
    title: 'Return policy',
    mimeType: 'text/plain',
  },
};

export const conversation = {
  userId: 'u-1',
  data: {
    messages: [
      { role: 'user', content: 'I moved to Bern last week.' },
      { role: 'assistant', content: 'Noted. Shall I change the delivery address?' },
    ],
    title: 'New address',
    tags: ['address'],
  },
};

const toolCall = {
  role: 'assistant',
  content: null,
  tool_calls: [
    { id: 'call_1', type: 'function', function: { name: 'track_parcel', arguments: '{}' } },
  ],
};
const reply = { role: 'assistant', content: 'It arrives today.', refusal: null, annotations: [] };

/** Messages that model APIs return: a tool call, a reply from OpenAI and a reply from Anthropic. */
export const messageExamples = [
  toolCall,
  reply,
  {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5',
    content: [{ type: 'text', text: 'It arrives today.' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 12, output_tokens: 6 },
  },
];

/** Messages in the format of the model APIs. */
export const messages = {
  userId: 'u-1',
  occurredAt: '2026-11-19T08:30:00Z',
  expiresAt: '2027-11-19T00:00:00Z',
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'Where is my parcel?' }] },
    toolCall,
    { role: 'tool', tool_call_id: 'call_1', content: 'In delivery' },
    reply,
  ],
};

export const event = {
  type: 'event',
  userId: 'u-1',
  data: { name: 'Upgraded the plan', plan: 'pro', seats: 5 },
};

export const profile = {
  type: 'profile',
  userId: 'u-1',
  data: { summary: 'Runs a small shop in Bern', language: 'de' },
};
