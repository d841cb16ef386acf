// @waku/sdk for scripts elsewhere in the repository: it resolves from this folder only.
export { createLightNode } from '@waku/sdk'
