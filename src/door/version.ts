// The version of this build, as package.json has it.
import { version } from '../../package.json'

export const VERSION: string = version
