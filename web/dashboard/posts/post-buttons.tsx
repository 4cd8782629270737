/** The buttons that send a post's editor: which ones there are goes by the role and the post's state. */
import { may } from '../shell/may.ts'
import { type Queue, QueueButton } from './posting-times.tsx'
import { TrackButton } from './track-button.tsx'
import type { Network } from './track-links.ts'

interface PostButtonsProps {
  readonly isScheduled: boolean
  /** None can be pressed. */
  readonly isBusy: boolean
  readonly queue: Queue
  readonly timezone: string
  readonly networks: readonly Network[]
  close(): void
}

export function PostButtons({ isScheduled, isBusy, queue, timezone, networks, close }: PostButtonsProps) {
  const mayPublish = may('posts:publish')
  return (
    <div class="controls">
      <button type="submit" value="save" aria-disabled={isBusy}>
        {isScheduled ? 'Save' : 'Save the draft'}
      </button>
      {!mayPublish && (
        <button type="submit" value="submit" aria-disabled={isBusy}>
          Ask for approval
        </button>
      )}
      {mayPublish && !isScheduled && (
        <>
          <button type="submit" value="schedule" aria-disabled={isBusy}>
            Schedule
          </button>
          <QueueButton queue={queue} timezone={timezone} type="submit" value="queue" aria-disabled={isBusy} />
        </>
      )}
      {mayPublish && (
        <button type="submit" value="now" aria-disabled={isBusy} title="It goes out within half a minute">
          Publish now
        </button>
      )}
      <TrackButton networks={networks} isDisabled={isBusy} />
      <button type="button" onClick={close}>
        Close
      </button>
    </div>
  )
}
