import { existsSync, writeFileSync } from 'node:fs';
import { databasePath, ownThread } from '../support/preloaded.ts';

/*
 * Preloaded in each thread of a storage. A reader thread holds back the first part with vectors
 * that it hands over to the writer, until the test removes a file next to the database.
 */
const everyMs = 10;

if (ownThread === 'reader') {
  const { postMessage } = MessagePort.prototype;
  let hasHeld = false;
  MessagePort.prototype.postMessage = function postLate(this: MessagePort, message: unknown) {
    const [json] = Array.isArray(message) ? message : [''];
    if (hasHeld || !String(json).includes('"storeVectorPart"')) {
      postMessage.call(this, message);
      return;
    }
    hasHeld = true;
    const held = `${databasePath()}.held`;
    writeFileSync(held, '');
    const timer = setInterval(() => {
      if (existsSync(held)) return;
      clearInterval(timer);
      postMessage.call(this, message);
      writeFileSync(`${databasePath()}.sent`, '');
    }, everyMs);
  };
}
