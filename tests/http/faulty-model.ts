import { onCalls, ownThread } from '../support/preloaded.ts';

/*
 * Preloaded in each thread of a server. A question that contains one of these texts has the effect
 * that the text describes, in the model thread.
 */

export const endsModel = 'this question ends the model thread';
export const hangsModel = 'this question hangs the model thread';

if (ownThread === 'model') {
  onCalls((json) => {
    if (json.includes(endsModel)) process.exit(7);
    while (json.includes(hangsModel)) Bun.sleepSync(1_000);
  });
}
