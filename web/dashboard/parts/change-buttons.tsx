interface ChangeButtonsProps {
  /** The name of a row of a list. */
  readonly name: string
  readonly ends: 'Delete' | 'Remove'
  change(): void
  end(): void
}

export function ChangeButtons({ name, ends, change, end }: ChangeButtonsProps) {
  return (
    <>
      <button type="button" class="link" aria-label={`Change ${name}`} onClick={change}>
        ✎
      </button>
      <button type="button" class="link" aria-label={`${ends} ${name}`} onClick={end}>
        ×
      </button>
    </>
  )
}
