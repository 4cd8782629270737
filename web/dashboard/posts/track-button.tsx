/** Tracks the links of the post that a form writes, if asked with links of their own for each of its networks. */
import type { Network } from './track-links.ts'

/** The field of the form that asks for it. */
export const splitField = 'split_links'

interface TrackButtonProps {
  readonly networks: readonly Network[]
  readonly isDisabled: boolean
}

export function TrackButton({ networks, isDisabled }: TrackButtonProps) {
  return (
    <>
      <button
        type="submit"
        value="track"
        aria-disabled={isDisabled}
        title="Saves the post, and puts a tracked link in the place of each address in its captions"
      >
        Track the links
      </button>
      {networks.length > 1 && (
        <label
          class="choice"
          title="Each network gets a caption with links of its own, so that clicks and visits are told apart"
        >
          <input type="checkbox" name={splitField} /> with links of their own for each network
        </label>
      )}
    </>
  )
}
