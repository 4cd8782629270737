/** Ends a connection whose sender may still send: closed with unread data it is reset, and the answer may be lost. */
import type { Socket } from 'node:net'

/** Time to read the answer, for a sender who still sends after it. */
const lingerMs = 1_000

/** @param last sent before the end. @param withinMs how long the rest of the request is read */
export function endLingering(socket: Socket, last = '', withinMs = lingerMs): void {
  socket.end(last)
  setTimeout(() => socket.destroy(), withinMs).unref()
}
