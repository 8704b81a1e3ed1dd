import { expect, spyOn, test } from 'bun:test';
import { Activity } from '../../server/storage/activity.ts';

test('a project counts as active for a second after its last request', () => {
  using clock = spyOn(performance, 'now');
  const activity = new Activity();
  clock.mockReturnValue(1_000);
  activity.note(1);
  expect([activity.hasOthers(1), activity.hasOthers(2)]).toEqual([false, true]);
  activity.note(2);
  clock.mockReturnValue(1_900);
  activity.note(1);
  expect(activity.hasOthers(1)).toBe(true);
  clock.mockReturnValue(2_001);
  expect([activity.hasOthers(1), activity.hasOthers(2)]).toEqual([false, true]);
});
