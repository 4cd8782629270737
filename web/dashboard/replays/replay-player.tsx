/** One replay: what the visitor saw, and what they did beside it. */
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { Journey } from '../../../schemas/resources/person.ts'
import type { PlayerMessage } from '../../player/protocol.ts'
import { Facts } from '../parts/facts.tsx'
import { Failure } from '../parts/failure.tsx'
import { duration, time } from '../parts/format.ts'
import { Isolated } from '../parts/isolated.tsx'
import { Panel } from '../parts/panel.tsx'
import { clickedOf, isTechnical, journeyEventsMax } from '../people/journey-lines.ts'
import { personParameters } from '../people/person-address.ts'
import type { Workspace } from '../requests/answers.ts'
import { useAnswer } from '../requests/query.ts'
import { playerLate, scaleOf, usePlayerPort } from './player-port.ts'
import { readReplay, type WholeReplay } from './read-replay.ts'
import { placeOf } from './replay-events.ts'

const speeds = [1, 2, 4, 8]
const seldomMs = 3_600_000
const settleMs = 400
/** A side of the recorded window, in pixels. A recording claims any. */
const sideMax = 20_000

export function OneReplay({
  id,
  workspace,
  children,
}: {
  id: string
  workspace: Workspace
  children?: ComponentChildren
}) {
  const [read, setRead] = useState<WholeReplay>()
  const [failure, setFailure] = useState('')
  const [round, setRound] = useState(0)
  useEffect(() => {
    const leaving = new AbortController()
    setFailure('')
    readReplay(id, leaving.signal).then(setRead, (error: Error) => {
      if (!leaving.signal.aborted) setFailure(error.message)
    })
    return () => leaving.abort()
  }, [id, round])
  return (
    <main>
      {children}
      {failure !== '' && (
        <p class="failure" role="alert">
          This replay can’t be read: <Isolated text={failure} />.{' '}
          <button type="button" onClick={() => setRound(round + 1)}>
            Try again
          </button>
        </p>
      )}
      {failure === '' && read === undefined && <p class="empty awaited">Reading the recording…</p>}
      {read && <Player {...read} timezone={workspace.timezone} />}
    </main>
  )
}

interface Shown extends WholeReplay {
  readonly timezone: string
}

function Player({ replay, recording, isCut, timezone }: Shown) {
  const stage = useRef<HTMLDivElement>(null)
  const frame = useRef<HTMLIFrameElement>(null)
  const pointer = useRef<HTMLSpanElement>(null)
  const soughtAt = useRef(0)
  const [at, setAt] = useState(0)
  const [lengthMs, setLength] = useState(0)
  const [isPlaying, setPlaying] = useState(false)
  const [speed, setSpeed] = useState(1)
  const [skipsInactive, setSkips] = useState(true)
  const [size, setSize] = useState<{ width: number; height: number }>()
  const [stageWidth, setStageWidth] = useState(0)
  const [isLoaded, setLoaded] = useState(false)
  const [lacks, setLacks] = useState(recording.lacksParts)
  const [failure, setFailure] = useState('')
  const { say, connect, isLate } = usePlayerPort(frame, hear)
  const isEmpty = recording.events.length < 2

  useEffect(() => say({ type: 'set', speed, skipsInactive }), [speed, skipsInactive, isLoaded])
  useEffect(() => {
    if (isEmpty) return undefined
    // It has no width while it is hidden.
    const place = stage.current!
    const watched = new ResizeObserver(() => setStageWidth((before) => place.clientWidth || before))
    watched.observe(place)
    return () => watched.disconnect()
  }, [])
  const scale = size === undefined ? 1 : scaleOf(size, stageWidth)

  function hear(message: PlayerMessage): void {
    if (message.type === 'ready') say({ type: 'load', events: recording.events })
    else if (message.type === 'loaded') {
      setLength(Number(message.durationMs) || 0)
      setLoaded(true)
    } else if (message.type === 'lacks') setLacks(true)
    else if (message.type === 'failed') setFailure('This recording can’t be played.')
    else if (message.type === 'playing') setPlaying(message.isPlaying === true)
    else if (message.type === 'size' && message.width > 0 && message.height > 0) {
      setSize({ width: sideOf(message.width), height: sideOf(message.height) })
    } else if (message.type === 'at') {
      // Places that were told before this one was sought are out of date.
      if (performance.now() - soughtAt.current > settleMs) setAt(Number(message.at) || 0)
      movePointer(Number(message.x), Number(message.y))
    }
  }

  function movePointer(x: number, y: number): void {
    if (pointer.current === null) return
    pointer.current.hidden = !(Number.isFinite(x) && Number.isFinite(y))
    Object.assign(pointer.current.style, { left: `${x * scale}px`, top: `${y * scale}px` })
  }

  const seek = (wanted: number) => {
    const place = Math.min(wanted, lengthMs)
    setAt(place)
    soughtAt.current = performance.now()
    say({ type: isPlaying ? 'play' : 'pause', at: place })
  }
  return (
    <div class="columns panels replay">
      <section class="panel tall" aria-label="Recording">
        <h2>
          <bdi>{replay.entry_path}</bdi>
          <span class="label">{time(replay.started_at, timezone)}</span>
        </h2>
        {(failure !== '' || isEmpty) && (
          <p class="empty">{failure || 'This recording can’t be played: its beginning is missing.'}</p>
        )}
        {isLate && (
          <p class="failure" role="alert">
            {playerLate}
          </p>
        )}
        {isCut && <p class="note">This recording is too long: its end isn’t shown.</p>}
        {lacks && !isEmpty && <p class="note">Parts of this recording are missing, or can’t be shown.</p>}
        {isLoaded && lengthMs === 0 && <p class="note">Nothing was recorded after the page had loaded.</p>}
        {!isEmpty && (
          <>
            <div class="controls">
              <button
                type="button"
                aria-disabled={lengthMs === 0}
                onClick={() => say({ type: isPlaying ? 'pause' : 'play', at: at >= lengthMs ? 0 : at })}
              >
                {isPlaying ? 'Pause' : 'Play'}
              </button>
              <label>
                Speed{' '}
                <select value={speed} onChange={(event) => setSpeed(Number(event.currentTarget.value))}>
                  {speeds.map((each) => (
                    <option key={each} value={each}>
                      {each}×
                    </option>
                  ))}
                </select>
              </label>
              <label>
                <input
                  type="checkbox"
                  checked={skipsInactive}
                  onChange={(event) => setSkips(event.currentTarget.checked)}
                />{' '}
                Skip inactivity
              </label>
              {/* No live region: that would tell each second. */}
              <span class="clock">
                {clock(at)} / {clock(lengthMs)}
              </span>
            </div>
            <input
              class="position"
              type="range"
              aria-label="Position"
              aria-valuetext={`${clock(at)} of ${clock(lengthMs)}`}
              min="0"
              max={Math.ceil(lengthMs / 1000) * 1000}
              step="1000"
              value={at}
              onInput={(event) => seek(Number(event.currentTarget.value))}
            />
            <div class="stage" ref={stage} style={size && { height: `${size.height * scale}px` }}>
              <iframe
                ref={frame}
                sandbox="allow-scripts"
                src="/dashboard/player"
                title="What the visitor saw"
                tabIndex={-1}
                style={size && { width: `${size.width}px`, height: `${size.height}px`, transform: `scale(${scale})` }}
                onLoad={connect}
              />
              <span class="pointer" ref={pointer} hidden />
            </div>
          </>
        )}
      </section>
      <Panel title="Events">
        <Facts
          facts={[
            ['Duration', duration(replay.duration_ms / 1000)],
            ['Pages', String(replay.pages)],
            ['Browser', [replay.browser, replay.device].filter(Boolean).join(', ')],
            ['Country', replay.country || 'unknown'],
          ]}
        />
        <EventsBeside replay={replay} recording={recording} at={at} seek={seek} />
      </Panel>
    </div>
  )
}

function EventsBeside({
  replay,
  recording,
  at,
  seek,
}: Pick<Shown, 'replay' | 'recording'> & { at: number; seek(place: number): void }) {
  const { answer, failure } = useAnswer<Journey>(
    `/people/journey?${new URLSearchParams({ ...personParameters(replay), limit: String(journeyEventsMax) })}`,
    { againMs: seldomMs },
  )
  const own = (answer?.events ?? [])
    .filter((event) => event.session_id === replay.id && !isTechnical(event))
    .map((event) => ({ event, place: placeOf(recording, Date.parse(event.occurred_at)) }))
    .reverse()
  const oldest = answer?.events.length === journeyEventsMax ? answer.events.at(-1) : undefined
  const isOlder = oldest !== undefined && Date.parse(oldest.occurred_at) > Date.parse(replay.started_at)
  // A recording that somebody sent without events has no person.
  if (answer === undefined && !failure?.isMissing) return failure ? <Failure {...failure} /> : null
  if (own.length === 0) {
    return (
      <p class="empty">
        {isOlder
          ? `These events are too old: only the newest ${journeyEventsMax} of a person are listed.`
          : 'No events in this session.'}
      </p>
    )
  }
  return (
    <ol class="timeline beside">
      {isOlder && <li class="note">Older events aren’t listed.</li>}
      {own.map(({ event, place }) => (
        <li
          key={event.id}
          class="event"
          aria-current={place !== null && place <= at && at - place < 5_000 ? 'step' : undefined}
        >
          {place === null ? (
            <span class="label">–</span>
          ) : (
            <button type="button" class="link" onClick={() => seek(place)}>
              {clock(place)}
              <span class="unseen">
                {' '}
                <bdi>{event.event_name}</bdi>
              </span>
            </button>
          )}
          <span class="name">
            <bdi>{event.event_name}</bdi> <bdi class="label">{clickedOf(event) || event.path}</bdi>
          </span>
        </li>
      ))}
    </ol>
  )
}

function sideOf(side: unknown): number {
  return Math.min(Math.ceil(Number(side)), sideMax)
}

/** `3:07`, and `1:03:07` from an hour on. */
function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  const two = (part: number) => String(part).padStart(2, '0')
  return `${hours > 0 ? `${hours}:${two(minutes)}` : minutes}:${two(seconds % 60)}`
}
