/**
 * The only importer of uWebSockets.js. Its binaries are prebuilt for a range of systems: where none fits, the
 * loader's error becomes one line that says what is needed.
 */

import type * as UwsModule from 'uWebSockets.js'
import { createRequire } from 'node:module'

export type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from 'uWebSockets.js'

function load(): typeof UwsModule {
  try {
    return createRequire(import.meta.url)('uWebSockets.js') as typeof UwsModule
  } catch (error) {
    throw new Error(
      `uWebSockets.js has no binary for Node ${process.versions.node} on this ${process.platform} ${process.arch}: ` +
        'use Node 20 with glibc 2.27 or newer, or Node 22 to 25 with glibc 2.38 or newer ' +
        `(${(error as Error).message.split('\n')[0]})`,
    )
  }
}

export const uws = load()

// By default every answer names the library in a header of its own: bytes that tell nobody anything.
;(uws as unknown as { _cfg(option: string): void })._cfg('silent')
