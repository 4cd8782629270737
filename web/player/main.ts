/**
 * The document that plays a recording. It is in a frame of the dashboard that is sandboxed without an origin of its
 * own. It can't reach the owner's session, and makes no requests. It hears of the dashboard through a port only.
 *
 * rrweb plays into a frame that it makes. In a sandbox, that frame would have another opaque origin, out of rrweb's reach.
 * So rrweb is given this document itself as the frame. Each full snapshot opens the document anew. That
 * removes its listeners, but not the port's.
 */
import { Replayer } from '@rrweb/replay'
import { harmless, type RecordedEvent } from './harmless.ts'
import type { Command, PlayerMessage } from './protocol.ts'

const tellEveryMs = 100
/** rrweb shows what came before a moment; what comes with it belongs to it. */
const throughMs = 1
/** The depth limit of browsers' HTML parsers. Recordings add nodes one by one, and browsers crash at some thousands of levels. */
const depthMax = 512

addEventListener('message', ({ data, ports: [port] }) => {
  if (data === 'replay' && port) listen(port)
})

function listen(port: MessagePort): void {
  const tell = (message: PlayerMessage) => port.postMessage(message)
  let player: Replayer | undefined
  let isPlaying = false
  port.onmessage = ({ data }: MessageEvent<Command>) => {
    if (data.type === 'load') player = load(data.events, tell, finished)
    else if (data.type === 'set') player?.setConfig({ speed: data.speed, skipInactive: data.skipsInactive })
    else if (data.type === 'scroll') scrollTo({ top: data.top, behavior: 'instant' })
    else if (player !== undefined) {
      if (data.at < player.getCurrentTime()) forgetPointer(player)
      if (data.type === 'play') player.play(data.at + throughMs)
      else player.pause(data.at + throughMs)
      setPlaying(data.type === 'play')
    }
  }
  let height = 0
  setInterval(() => {
    if (player === undefined) return
    const { style } = pointerOf(player)
    // Its clock goes on for a moment at the end.
    const at = Math.min(player.getCurrentTime(), player.getMetaData().totalTime)
    const pageHeight = document.documentElement?.scrollHeight ?? 0
    // A page that isn't shown has no height. It is as high as it was.
    if (pageHeight > 0 && pageHeight !== height) {
      tell({ type: 'page', height: pageHeight })
      height = pageHeight
    }
    tell({ type: 'at', at, x: Number.parseFloat(style.left), y: Number.parseFloat(style.top) })
  }, tellEveryMs)
  tell({ type: 'ready' })

  /** rrweb says so 50 ms after the last event was shown. If another place was sought since then, it has stopped there. */
  function finished(): void {
    if (player === undefined) return
    const at = player.getCurrentTime()
    if (isPlaying && at < player.getMetaData().totalTime) player.play(at)
    else setPlaying(false)
  }

  function setPlaying(is: boolean): void {
    if (isPlaying !== is) tell({ type: 'playing', isPlaying: is })
    isPlaying = is
  }
}

function load(
  recorded: readonly RecordedEvent[],
  tell: (message: PlayerMessage) => void,
  finished: () => void,
): Replayer | undefined {
  try {
    const events = recorded.map(harmless).filter((event) => event !== null)
    boundDepth(() => tell({ type: 'lacks' }))
    openWithoutFocus()
    const player = inThisDocument(
      () =>
        new Replayer(events as never[], {
          root: document.body,
          mouseTail: false,
          showWarning: false,
          showDebug: false,
          speed: 1,
          pauseAnimation: true,
          // A page that plays would take the keyboard from the dashboard.
          triggerFocus: false,
          blockClass: 'svc-block',
          // Without it rrweb refuses a document that isn't in a frame of its own. Nothing of canvases is played: harmless.ts.
          UNSAFE_replayCanvas: true,
        }),
    )
    player.on('resize', (size) => {
      const { width, height } = size as { width: number; height: number }
      tell({ type: 'size', width, height })
    })
    player.on('fullsnapshot-rebuilded', () => document.close())
    player.on('finish', finished)
    outliveErrors(player, () => tell({ type: 'lacks' }))
    player.pause(0)
    tell({ type: 'loaded', durationMs: player.getMetaData().totalTime })
    return player
  } catch (error) {
    tell({ type: 'failed', text: String(error) })
    return undefined
  }
}

/** rrweb's clock stands still for ever once an event can't be shown. */
function outliveErrors(player: Replayer, lacks: () => void): void {
  const methods = player as unknown as Record<string, (...given: unknown[]) => void>
  for (const name of ['rebuildFullSnapshot', 'applyIncremental', 'moveAndHover']) {
    const apply = methods[name]!
    methods[name] = (...given) => {
      try {
        apply.apply(player, given)
      } catch {
        lacks()
      }
    }
  }
}

/**
 * Leaves out nodes deeper than `depthMax`, also in shadow roots and in subtrees that are moved. A node's recorded height doesn't
 * shrink when a descendant is removed.
 */
function boundDepth(lacks: () => void): void {
  const levels = new WeakMap<Node, number>()
  const levelsBelow = (node: Node) => levels.get(node) ?? 0
  for (const name of ['appendChild', 'insertBefore'] as const) {
    const insert = Node.prototype[name] as (this: Node, added: Node, before?: Node | null) => Node
    Node.prototype[name] = function (this: Node, added: Node, ...before: never[]) {
      let depth = levelsBelow(added)
      for (let at: Node | null = this; at !== null && depth <= depthMax; at = parentOf(at)) depth++
      if (depth > depthMax) {
        lacks()
        return added
      }
      insert.call(this, added, ...before)
      let below = levelsBelow(added)
      for (let at: Node | null = this; at !== null && levelsBelow(at) <= below; at = parentOf(at))
        levels.set(at, ++below)
      return added
    } as never
  }
}

function parentOf(node: Node): Node | null {
  return node instanceof ShadowRoot ? node.host : node.parentNode
}

/** A dialog takes the keyboard when it opens, but for one that is inert. */
function openWithoutFocus(): void {
  const { prototype } = HTMLDialogElement
  for (const name of ['show', 'showModal'] as const) {
    const open = prototype[name]
    prototype[name] = function (this: HTMLDialogElement) {
      this.inert = true
      open.call(this)
    }
  }
}

function pointerOf(player: Replayer): HTMLElement {
  return (player as unknown as { mouse: HTMLElement }).mouse
}

/** It isn't known before its first movement, to which rrweb doesn't lead it back. */
function forgetPointer(player: Replayer): void {
  Object.assign(pointerOf(player).style, { left: '', top: '' })
}

/** The first frame that `make` makes is this document. */
function inThisDocument<Made>(make: () => Made): Made {
  const frame = document.createElement('div')
  Object.defineProperties(frame, { contentDocument: { value: document }, contentWindow: { value: window } })
  const create = document.createElement
  document.createElement = ((name: string) =>
    name === 'iframe' ? frame : create.call(document, name)) as typeof create
  try {
    return make()
  } finally {
    document.createElement = create
  }
}
