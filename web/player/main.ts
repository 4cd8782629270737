/**
 * The document that plays a recording. It is in a frame of the dashboard that is sandboxed without an origin of its
 * own. It can't reach the owner's session, and makes no requests. It hears of the dashboard through a port only.
 *
 * rrweb plays into a frame that it makes. In a sandbox, that frame would have another opaque origin, out of rrweb's reach.
 * So rrweb is given this document itself as the frame. Each full snapshot opens it anew, which takes away its listeners, and
 * not those of the port.
 */
import { Replayer } from '@rrweb/replay'
import { harmless, type RecordedEvent } from './harmless.ts'
import type { Command, Told } from './protocol.ts'

const tellEveryMs = 100
/** rrweb shows what came before a moment; what comes with it belongs to it. */
const throughMs = 1

addEventListener('message', ({ data, ports: [port] }) => {
  if (data === 'replay' && port) listen(port)
})

function listen(port: MessagePort): void {
  const tell = (told: Told) => port.postMessage(told)
  let player: Replayer | undefined
  let isPlaying = false
  port.onmessage = ({ data }: MessageEvent<Command>) => {
    if (data.type === 'load') player = load(data.events, tell, finished)
    else if (data.type === 'set') player?.setConfig({ speed: data.speed, skipInactive: data.skipsInactive })
    else if (data.type === 'play') {
      player?.play(data.at + throughMs)
      setPlaying(true)
    } else if (data.type === 'scroll') scrollTo({ top: data.top, behavior: 'instant' })
    else {
      player?.pause(data.at + throughMs)
      setPlaying(false)
    }
  }
  let height = 0
  setInterval(() => {
    if (player === undefined) return
    const { style } = (player as unknown as { mouse: HTMLElement }).mouse
    const pageHeight = document.documentElement?.scrollHeight ?? 0
    // A page that isn't shown has no height. It is as high as it was.
    if (pageHeight > 0 && pageHeight !== height) {
      tell({ type: 'page', height: pageHeight })
      height = pageHeight
    }
    tell({ type: 'at', at: player.getCurrentTime(), x: Number.parseFloat(style.left), y: Number.parseFloat(style.top) })
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
  tell: (told: Told) => void,
  finished: () => void,
): Replayer | undefined {
  try {
    const events = recorded.map(harmless).filter((event) => event !== null)
    const player = inThisDocument(
      () =>
        new Replayer(events as never[], {
          root: document.body,
          mouseTail: false,
          showWarning: false,
          showDebug: false,
          speed: 1,
          pauseAnimation: true,
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
    player.pause(0)
    tell({ type: 'loaded', durationMs: player.getMetaData().totalTime })
    return player
  } catch (error) {
    tell({ type: 'failed', text: String(error) })
    return undefined
  }
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
