/** The port to the player's document, which has no origin: the dashboard and a recording share nothing else. */
import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Command, Told } from '../player/protocol.ts'

/** @returns `connect` for the frame's `onLoad` */
export function usePlayerPort(frame: RefObject<HTMLIFrameElement | null>, hear: (told: Told) => void) {
  const port = useRef<MessagePort | undefined>(undefined)
  const newest = useRef(hear)
  newest.current = hear
  useEffect(() => () => port.current?.close(), [])
  const connect = () => {
    // The document is opened anew for each page that is shown, and has loaded again then.
    if (port.current !== undefined) return
    const channel = new MessageChannel()
    port.current = channel.port1
    channel.port1.onmessage = ({ data }: MessageEvent<Told>) => newest.current(data)
    // Its origin is opaque: there is no other name for it.
    frame.current!.contentWindow!.postMessage('replay', '*', [channel.port2])
  }
  const say = (command: Command) => port.current?.postMessage(command)
  return { connect, say }
}
