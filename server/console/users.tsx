import { useState } from 'preact/hooks';
import type { User, UserOrder } from '../../sdk/index.ts';
import { bytesText } from './format.ts';
import { usePages } from './loading.ts';
import { Confirm, Empty, Form, Input, Listing, Screen, Select, Time } from './parts.tsx';
import { hrefTo, replaceQuery, route } from './router.ts';
import type { Session } from './session.ts';

const orders: Record<UserOrder, string> = {
  bytes: 'Largest first',
  memories: 'Most memories first',
  userId: 'By name',
};

export function Users({ session }: { session: Session }) {
  const { order: chosen = '', find = '' } = route.value.query;
  const order = chosen === 'memories' || chosen === 'userId' ? chosen : 'bytes';
  const [erased, setErased] = useState<User | null>(null);
  const users = usePages(
    (cursor, signal) => session.client.users({ order, limit: 100, cursor }, { signal }),
    [session, order],
  );
  const matching = users.value?.items.filter(({ userId }) => userId.includes(find)) ?? [];
  return (
    <Screen title="Users">
      <search>
        <Form class="tools" onSubmit={() => open(find)}>
          <Input
            label="Find a user"
            type="search"
            placeholder="Type an id, and press Enter to open it"
            value={find}
            onValue={(find) => replaceQuery({ find })}
          />
          <Select
            label="Order"
            value={order}
            options={orders}
            onValue={(order) => replaceQuery({ order })}
          />
        </Form>
      </search>
      <Listing of={users}>
        {matching.length > 0 && (
          <UserTable users={matching} onErase={session.key.readOnly ? null : setErased} />
        )}
        {users.value?.items.length === 0 && (
          <Empty>
            There are no memories yet. <a href={hrefTo([''])}>Save the first one</a>.
          </Empty>
        )}
        {matching.length === 0 && users.value?.items.length !== 0 && (
          <Empty>
            None of the users shown here has this id.{' '}
            <a href={hrefTo(['users', find])}>Look for the memories of {find}</a>.
          </Empty>
        )}
      </Listing>
      {erased !== null && (
        <Confirm
          title={`Erase ${erased.userId}?`}
          verb="Erase"
          typed={erased.userId}
          write={() => session.client.deleteAll({ userId: erased.userId })}
          onClose={() => setErased(null)}
          onDone={users.reload}
        >
          <p>
            {erased.memories === 1
              ? 'One memory is'
              : `All ${erased.memories.toLocaleString('en')} memories are`}{' '}
            deleted permanently, with the records of this user in the queue.
          </p>
        </Confirm>
      )}
    </Screen>
  );
}

function open(userId: string): void {
  if (userId !== '') location.hash = hrefTo(['users', userId]);
}

type TableProps = { users: User[]; onErase: ((user: User) => void) | null };

function UserTable({ users, onErase }: TableProps) {
  return (
    <table>
      <thead>
        <tr>
          <th scope="col">User</th>
          <th scope="col" class="number">
            Memories
          </th>
          <th scope="col" class="number">
            Size
          </th>
          <th scope="col" class="extra">
            Last memory
          </th>
          {onErase !== null && (
            <th scope="col">
              <span class="hidden">Erase</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {users.map((user) => (
          <tr key={user.userId}>
            <th scope="row">
              <a href={hrefTo(['users', user.userId])}>{user.userId}</a>
            </th>
            <td class="number">{user.memories.toLocaleString('en')}</td>
            <td class="number">{bytesText(user.bytes)}</td>
            <td class="extra">
              <Time at={user.lastCreatedAt} />
            </td>
            {onErase !== null && (
              <td class="number">
                <button
                  type="button"
                  class="plain"
                  aria-label={`Erase ${user.userId}`}
                  onClick={() => onErase(user)}
                >
                  Erase
                </button>
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
