// opencode: a user-level opencode.json for an unattended `opencode run` with an OpenAI-compatible provider.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Door, type Hook, type Recipe, SERVER } from './recipe.ts'

function server(door: Door) {
  if (door.kind === 'stdio') return { type: 'local', command: door.command, environment: door.env }
  // Without `oauth: false` a refusal would make opencode try to register itself as an OAuth client.
  return { type: 'remote', url: door.url, headers: { Authorization: `Bearer ${door.token}` }, oauth: false }
}

/** opencode has no command hooks: a plugin in its own process takes their place. */
const plugin = (command: Hook) => `export const hook = async () => ({
  'chat.message': async () => {
    await Bun.spawn(['sh', '-c', ${JSON.stringify(command)}], { stdin: 'ignore' }).exited
  },
})
`

export const opencode: Recipe = {
  prepare({ home, modelUrl, modelKey, door, hook, resume }) {
    const folder = join(home, '.config', 'opencode')
    mkdirSync(folder, { recursive: true })
    const config = {
      $schema: 'https://opencode.ai/config.json',
      autoupdate: false,
      share: 'disabled',
      model: 'scripted/model',
      small_model: 'scripted/model',
      permission: { '*': 'allow' },
      provider: {
        scripted: {
          npm: '@ai-sdk/openai-compatible',
          name: 'scripted',
          options: { baseURL: `${modelUrl}/v1`, apiKey: modelKey },
          models: { model: { name: 'model', tool_call: true, limit: { context: 200_000, output: 8_000 } } },
        },
      },
      mcp: { [SERVER]: server(door) },
    }
    writeFileSync(join(folder, 'opencode.json'), JSON.stringify(config), { mode: 0o600 })
    if (hook) {
      mkdirSync(join(folder, 'plugin'), { recursive: true })
      writeFileSync(join(folder, 'plugin', 'hook.ts'), plugin(hook))
    }
    const env = {
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      // It would install the types of its plugin interface at every first start in a new HOME.
      npm_config_offline: 'true',
    }
    return { args: ['run', ...(resume ? ['--session', resume] : []), 'follow the script'], env }
  },
  shell: (command) => ({ tool: 'bash', args: { command, description: 'the script says so' } }),
  unwrap: (result) => result,
}
