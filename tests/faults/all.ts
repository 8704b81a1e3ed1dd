import { bulk } from './bulk.ts';
import { crash } from './crash.ts';
import { disk, steps } from './disk.ts';
import { failover } from './failover.ts';
import type { Harness } from './harness.ts';
import { health } from './health.ts';
import { hostile } from './hostile.ts';
import { linear, linearServers } from './linear.ts';
import { neighbour } from './neighbour.ts';
import { order } from './order.ts';
import { power, powerAlone } from './power.ts';
import { queue } from './queue.ts';
import { replays } from './replays.ts';
import { severalServers } from './servers.ts';
import { shown } from './shown.ts';

/** All harnesses, ordered by the numbers of their ids. */
export const harnesses: Harness[] = [
  crash,
  power,
  steps,
  disk,
  replays,
  queue,
  order,
  severalServers,
  bulk,
  shown,
  powerAlone,
  neighbour,
  hostile,
  health,
  linear,
  linearServers,
  failover,
];
