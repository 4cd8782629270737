/** The port to the player's document, which has no origin: the dashboard and a recording share nothing else. */
import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Command, Told } from '../player/protocol.ts'

/** A frame whose document couldn't be loaded says nothing. */
const answerWithinMs = 15_000

export const playerLate = 'The player couldn’t be loaded. Reload the page.'

/** @returns `connect` for the frame's `onLoad`; whether the document is late with its first word */
export function usePlayerPort(frame: RefObject<HTMLIFrameElement | null>, hear: (told: Told) => void) {
  const port = useRef<MessagePort | undefined>(undefined)
  const newest = useRef(hear)
  newest.current = hear
  const [isLate, setLate] = useState(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => {
    timer.current = setTimeout(setLate, answerWithinMs, true)
    return () => {
      clearTimeout(timer.current)
      port.current?.close()
    }
  }, [])
  const connect = () => {
    // The document is opened anew for each page that is shown, and has loaded again then.
    if (port.current !== undefined) return
    const channel = new MessageChannel()
    port.current = channel.port1
    channel.port1.onmessage = ({ data }: MessageEvent<Told>) => {
      clearTimeout(timer.current)
      setLate(false)
      newest.current(data)
    }
    // Its origin is opaque: there is no other name for it.
    frame.current!.contentWindow!.postMessage('replay', '*', [channel.port2])
  }
  const say = (command: Command) => port.current?.postMessage(command)
  return { connect, say, isLate }
}
