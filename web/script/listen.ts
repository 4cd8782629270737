/** Nothing of ours may throw into the page. */

type Events = WindowEventMap & DocumentEventMap & { prerenderingchange: Event }

/** `run`, except that what it throws is dropped. */
export function guard<Args extends unknown[], Result>(
  run: (...args: Args) => Result,
): (...args: Args) => Result | undefined {
  return (...args) => {
    try {
      return run(...args)
    } catch {}
  }
}

/** Listens at the window, where events of the document arrive, too. */
export function on<Type extends keyof Events>(
  type: Type,
  run: (event: Events[Type]) => void,
  isCapture?: boolean,
): void {
  addEventListener(type, guard(run) as EventListener, isCapture)
}
