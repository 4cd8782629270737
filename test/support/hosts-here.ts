/** Requests to a platform's own hosts come to a server of this machine, as they would go out but for TLS. */
import { connect } from 'node:net'
import { Agent, type Dispatcher, getGlobalDispatcher, setGlobalDispatcher } from 'undici'

export interface HostsHere {
  /** Connects to the platform's hosts here, and to others as before: those that came here later end first. */
  readonly agent: Dispatcher
  end(): void
}

/** @param origins the platform's own. @param isAway nothing listens at its hosts */
export function hostsHere(origins: RegExp, url: string, isAway: () => boolean): HostsHere {
  const [here, nowhere] = [agentTo(Number(new URL(url).port)), agentTo(1)]
  const before = getGlobalDispatcher()
  const agent = before.compose((dispatch) => (options, handler) => {
    if (!origins.test(String(options.origin))) return dispatch(options, handler)
    return (isAway() ? nowhere : here).dispatch(options, handler)
  })
  setGlobalDispatcher(agent)
  return { agent, end: () => setGlobalDispatcher(before) }
}

function agentTo(port: number): Dispatcher {
  return new Agent({
    connect: (_, done) => {
      const socket = connect(port, '127.0.0.1')
      socket.once('connect', () => done(null, socket)).once('error', (error) => done(error, null))
    },
  })
}
