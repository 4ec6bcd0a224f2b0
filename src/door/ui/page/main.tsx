// The page begins: takes the secret out of the address before anything else, then draws.
import { render } from 'preact'
import { App } from './app.tsx'
import { beginLogin } from './login.ts'

beginLogin()
const root = document.getElementById('page')
if (root) render(<App />, root)
