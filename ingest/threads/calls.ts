/** Calls between two threads over a port: asked for an answer, or only told. Messages arrive in the order they were sent. */
import type { MessagePort, Worker } from 'node:worker_threads'

// biome-ignore lint/suspicious/noExplicitAny: arguments of any functions
export type Functions = { readonly [name: string]: (...args: any[]) => unknown }

export interface Calls<Theirs extends Functions> {
  /** @throws Error that carries the other side's error */
  ask<Name extends keyof Theirs & string>(
    name: Name,
    ...args: Parameters<Theirs[Name]>
  ): Promise<Awaited<ReturnType<Theirs[Name]>>>
  tell<Name extends keyof Theirs & string>(name: Name, ...args: Parameters<Theirs[Name]>): void
}

type Message =
  | { kind: 'call'; id: number; name: string; args: unknown[] }
  | { kind: 'answer'; id: number; value: unknown }
  | { kind: 'failure'; id: number; error: unknown }

/** The id of a call without an answer. */
const untold = 0

/**
 * Runs `mine` for the other side. If a function throws in a call without an answer, the process ends, as by any error
 * of ours.
 */
export function connectThreads<Theirs extends Functions>(port: MessagePort | Worker, mine: Functions): Calls<Theirs> {
  const waiting = new Map<number, { resolve: (value: never) => void; reject: (error: unknown) => void }>()
  let lastId = untold

  async function run({ id, name, args }: Message & { kind: 'call' }): Promise<void> {
    if (id === untold) {
      await mine[name]!(...args)
      return
    }
    try {
      port.postMessage({ kind: 'answer', id, value: await mine[name]!(...args) })
    } catch (error) {
      port.postMessage({ kind: 'failure', id, error })
    }
  }

  port.on('message', (message: Message) => {
    if (message.kind === 'call') {
      void run(message)
      return
    }
    const asked = waiting.get(message.id)
    waiting.delete(message.id)
    if (message.kind === 'answer') asked?.resolve(message.value as never)
    else asked?.reject(message.error)
  })

  return {
    ask(name, ...args) {
      return new Promise((resolve, reject) => {
        const id = ++lastId
        waiting.set(id, { resolve, reject })
        port.postMessage({ kind: 'call', id, name, args })
      })
    },
    tell(name, ...args) {
      port.postMessage({ kind: 'call', id: untold, name, args })
    },
  }
}
