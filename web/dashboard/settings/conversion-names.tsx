/** The events whose conversions a recipient or a channel is told of, one a line. */
import { changesOf } from '../parts/changes-of.ts'
import { FormDialog } from '../parts/dialog.tsx'
import { linesIn } from '../parts/lines-in.ts'
import { send } from '../requests/query.ts'

const field = 'conversion_names'

export function NamesField({ chosen }: { chosen: readonly string[] }) {
  return (
    <label>
      Conversions of these events alone, one a line, 20 at most. Leave empty for all.
      <textarea
        name={field}
        rows={3}
        spellcheck={false}
        autocapitalize="none"
        placeholder="signup"
        defaultValue={chosen.join('\n')}
      />
    </label>
  )
}

export function namesIn(data: FormData): string[] {
  return linesIn(String(data.get(field)))
}

/** Stands beside whoever is told. */
export function namesText(names: readonly string[]): string {
  return names.length === 0 ? 'all conversions' : `conversions: ${names.join(', ')}`
}

interface FormProps {
  readonly of: { readonly id: number; readonly conversion_names: readonly string[] }
  close(): void
  made(recipient: unknown): void
}

/** For a recipient of mail. */
export function NamesForm({ of: { id, conversion_names }, close, made }: FormProps) {
  const submit = (data: FormData) =>
    send('PATCH', `/report-recipients/${id}`, changesOf({ conversion_names: namesIn(data) }, { conversion_names }))
  return (
    <FormDialog title="Choose conversions" verb="Save" close={close} made={made} submit={submit}>
      <NamesField chosen={conversion_names} />
    </FormDialog>
  )
}
