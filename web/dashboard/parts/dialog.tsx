/** Dialogs over the page, by the browser's own element: it holds the focus, and Escape closes it. */
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { untilFresh } from '../requests/answer-freshness.ts'
import { remove, type Sent } from '../requests/query.ts'
import { HeldInDialog, mayClose, type Unsaved } from '../shell/unsaved.ts'
import { Refusal } from './failure.tsx'
import { tellLateRefusal } from './late-refusal.tsx'
import { useIsOpen } from './use-is-open.ts'

interface DialogProps {
  readonly title: string
  readonly children: ComponentChildren
  close(): void
}

export function Dialog({ title, children, close }: DialogProps) {
  const place = useRef<HTMLDialogElement>(null)
  // Before what is inside looks for the focus.
  useLayoutEffect(() => {
    const before = document.activeElement
    const dialog = place.current
    dialog?.showModal()
    return () => {
      // While one is open, nothing outside of it takes the focus, though another comes in its place.
      dialog?.close()
      if (before instanceof HTMLElement) before.focus()
    }
  }, [])
  /** A browser lets a second Escape close it, whatever is answered. Then it opens again. */
  const opensAgain = useRef(false)
  const inside = useRef(new Set<Unsaved>()).current
  return (
    <dialog
      ref={place}
      aria-label={title}
      onCancel={(event) => {
        // A file that isn't chosen after all is told of by the same name.
        if (event.target !== event.currentTarget || mayClose(inside)) return
        event.preventDefault()
        opensAgain.current = !event.defaultPrevented
      }}
      onClose={({ currentTarget }) => {
        // The event comes a moment after the dialog closed. By then a quick key may have opened another in its place.
        if (!currentTarget.isConnected) return
        if (opensAgain.current) currentTarget.showModal()
        else close()
        opensAgain.current = false
      }}
    >
      <div class="tabs">
        <h2>
          <bdi>{title}</bdi>
        </h2>
        <button type="button" onClick={() => mayClose(inside) && place.current?.close()}>
          Close
        </button>
      </div>
      <HeldInDialog.Provider value={inside}>{children}</HeldInDialog.Provider>
    </dialog>
  )
}

/**
 * The call, once, for as long as the dialog is open, and nothing after that: an answer may come once it was closed, and
 * another is open in its place by then. A second click waits for the same answer.
 */
export function useWhileOpen(call: () => void): () => void {
  const isOpen = useIsOpen()
  return () => {
    if (!isOpen.current) return
    isOpen.current = false
    call()
  }
}

interface ConfirmProps extends DialogProps {
  /** The action, on the button. */
  readonly verb: string
  /** Why it was refused. */
  readonly refusal?: string
  /** It is being done. */
  readonly isSending?: boolean
  confirmed(): void
}

/** Asks before something is done that can't be undone. */
export function Confirm({ title, children, close, verb, refusal = '', isSending = false, confirmed }: ConfirmProps) {
  return (
    <Dialog title={title} close={close}>
      <p>{children}</p>
      <Refusal text={refusal} />
      <button type="button" class="danger" aria-disabled={isSending} onClick={confirmed}>
        {verb}
      </button>
    </Dialog>
  )
}

interface ConfirmWriteProps extends Omit<ConfirmProps, 'refusal' | 'isSending' | 'confirmed'> {
  write(): Promise<Sent<unknown>>
  done(): void
}

/** Asks before one request is sent. A refusal stands in it, or over the page where it was closed meanwhile. */
export function ConfirmWrite({ write, done, ...question }: ConfirmWriteProps) {
  const [refusal, setRefusal] = useState('')
  const [isSending, setSending] = useState(false)
  const isOpen = useIsOpen()
  const confirmed = async () => {
    setSending(true)
    const sent = await write()
    if (!('refusal' in sent)) return done()
    if (!isOpen.current) return tellLateRefusal(question.title, sent.refusal)
    setSending(false)
    setRefusal(sent.refusal)
  }
  return <Confirm {...question} refusal={refusal} isSending={isSending} confirmed={confirmed} />
}

interface ConfirmOnceProps extends DialogProps {
  readonly verb: string
  write(): Promise<Sent<unknown>>
  done(sent: Sent<unknown>): void
}

/** Asks before one request is sent, and closes when it is answered. The caller shows a refusal. */
export function ConfirmOnce({ write, close, done, ...question }: ConfirmOnceProps) {
  const closeThis = useWhileOpen(close)
  const [isSending, setSending] = useState(false)
  const confirmed = async () => {
    setSending(true)
    done(await write())
    closeThis()
  }
  return <Confirm {...question} close={close} isSending={isSending} confirmed={confirmed} />
}

interface RemovalProps extends Omit<ConfirmOnceProps, 'write'> {
  /** Path of the item. */
  readonly path: string
}

/** Asks before an item is removed, and stays until the list is read without it. */
export function Removal({ path, ...question }: RemovalProps) {
  return <ConfirmOnce {...question} write={() => remove(path)} />
}

interface FormDialogProps<Made> extends DialogProps {
  /** Above the form. */
  readonly intro?: ComponentChildren
  /** The action, on the button. */
  readonly verb: string
  /** A choice that the request is about: its refusal isn't shown beside another. */
  readonly about?: string
  /** Said until the answer comes. */
  readonly waiting?: string
  submit(data: FormData): Promise<Sent<Made>>
  made?(made: Made): void
}

/**
 * A form for one request, which closes it: its children are the fields. A refusal stands above the button, and what was
 * written stays. Until the page shows the change the fields are held: what is changed then would be lost as the form closes.
 */
export function FormDialog<Made>(props: FormDialogProps<Made>) {
  const { title, intro, children, close, verb, about, waiting = 'Saving …', submit, made } = props
  const [refused, setRefused] = useState<{ readonly about: string | undefined; readonly text: string }>()
  const [isSending, setSending] = useState(false)
  const button = useRef<HTMLButtonElement>(null)
  const left = useRef<Element | null>(null)
  const closeThis = useWhileOpen(close)
  const onSubmit = async (event: SubmitEvent) => {
    event.preventDefault()
    if (isSending) return
    const data = new FormData(event.currentTarget as HTMLFormElement)
    // Fields that are held can't have the focus.
    left.current = document.activeElement
    button.current?.focus()
    setSending(true)
    const sent = await submit(data)
    if ('refusal' in sent) {
      // It was closed meanwhile.
      if (button.current === null) return tellLateRefusal(title, sent.refusal)
      setSending(false)
      return setRefused({ about, text: sent.refusal })
    }
    made?.(sent.made)
    await untilFresh()
    setSending(false)
    closeThis()
  }
  useLayoutEffect(() => {
    if (!isSending && document.activeElement === button.current && left.current instanceof HTMLElement)
      left.current.focus()
  }, [isSending])
  return (
    <Dialog title={title} close={close}>
      {intro}
      <form class="editor" onSubmit={onSubmit}>
        <div class="fields" inert={isSending}>
          {children}
        </div>
        <Refusal text={!isSending && refused?.about === about ? (refused?.text ?? '') : ''} />
        <button type="submit" ref={button}>
          {verb}
        </button>
        <p role="status" class={isSending ? 'label' : 'unseen'}>
          {isSending ? waiting : ''}
        </p>
      </form>
    </Dialog>
  )
}
