/** Runs one load in a child process of its own on the load's core, and reads the processor before and after it. */
import { join } from 'node:path'
import { forkChild, stopProcess } from '../child.ts'
import type { Cores } from '../measure/cores.ts'
import { type CpuSnapshot, readCpu } from '../measure/cpu.ts'
import type { AskPlan, FromLoad, LoadOutcome, LoadPlan, ToLoad } from './load-plan.ts'

export type LoadTool = 'sender' | 'autocannon'

export interface Load {
  readonly outcome: LoadOutcome
  readonly from: CpuSnapshot
  readonly to: CpuSnapshot
  readonly pid: number
}

export function runLoad(plan: LoadPlan, tool: LoadTool, cores: Cores | string, folder: string): Promise<Load> {
  return runChild(`bench/load/load-${tool}.js`, plan, cores, folder)
}

/** Requests to the API. */
export function runAsking(plan: AskPlan, cores: Cores | string, folder: string): Promise<Load> {
  return runChild('bench/load/load-sender.js', plan, cores, folder)
}

async function runChild<Plan>(file: string, plan: Plan, cores: Cores | string, folder: string): Promise<Load> {
  const child = forkChild({ file, cores, side: 'load', logFile: join(folder, 'logs', 'load.log') })
  const send = (message: ToLoad<Plan>) => child.send(message)
  try {
    return await new Promise<Load>((resolve, reject) => {
      let from: CpuSnapshot
      let to: CpuSnapshot
      child.on('message', (message: FromLoad) => {
        if (message.type === 'failed') reject(new Error(`the load failed: ${message.why}`))
        else if (message.type === 'ready') {
          from = readCpu()
          send({ type: 'go' })
        } else if (message.type === 'ended') to = readCpu()
        else resolve({ outcome: message.outcome, from, to, pid: child.pid! })
      })
      child.once('exit', (code, signal) => reject(new Error(`the load ended with ${signal ?? code}`)))
      send({ type: 'plan', plan })
    })
  } finally {
    await stopProcess(child, 'SIGTERM')
  }
}
