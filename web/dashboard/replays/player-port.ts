/** The port to the player's document, which has no origin: the dashboard and a recording share nothing else. */
import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Command, PlayerMessage } from '../../player/protocol.ts'

/**
 * A frame whose document couldn't be loaded says nothing, nor does one that a recording was too much for. Silence is counted in
 * steps: a hidden tab is woken once a minute, and hears its player in each of them.
 */
const stepMs = 5_000
const silentStepsMax = 3

export const playerLate =
  'The player doesn’t answer. The recording may be too much for the browser: wait, or reload the page.'

/** A recorded window is at most so much higher than wide as it is shown: a recording claims any. */
const heightRatioMax = 2.5

/** Pixels of the screen for one of a recorded window, in a stage of that width. */
export function scaleOf({ width, height }: { width: number; height: number }, stageWidth: number): number {
  return Math.min(1, stageWidth / width, (stageWidth * heightRatioMax) / height)
}

/** @returns `connect` for the frame's `onLoad`; whether the document hasn't said a word for long */
export function usePlayerPort(frame: RefObject<HTMLIFrameElement | null>, hear: (message: PlayerMessage) => void) {
  const port = useRef<MessagePort | undefined>(undefined)
  const newest = useRef(hear)
  newest.current = hear
  const [isLate, setLate] = useState(false)
  const silentSteps = useRef(0)
  useEffect(() => {
    const timer = setInterval(() => {
      if (++silentSteps.current >= silentStepsMax) setLate(true)
    }, stepMs)
    return () => {
      clearInterval(timer)
      port.current?.close()
    }
  }, [])
  const connect = () => {
    // The document is opened anew for each page that is shown, and has loaded again then.
    if (port.current !== undefined) return
    const channel = new MessageChannel()
    port.current = channel.port1
    channel.port1.onmessage = ({ data }: MessageEvent<PlayerMessage>) => {
      silentSteps.current = 0
      setLate(false)
      newest.current(data)
    }
    // Its origin is opaque: there is no other name for it.
    frame.current!.contentWindow!.postMessage('replay', '*', [channel.port2])
  }
  const say = (command: Command) => port.current?.postMessage(command)
  return { connect, say, isLate }
}
