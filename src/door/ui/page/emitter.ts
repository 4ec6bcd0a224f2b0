// A value that views follow: they are drawn again when it is set.
import { useEffect, useState } from 'preact/hooks'

export class Followed<T> {
  readonly #followers = new Set<() => void>()

  constructor(public value: T) {}

  set(value: T): void {
    this.value = value
    for (const follower of [...this.#followers]) follower()
  }

  follow(follower: () => void): () => void {
    this.#followers.add(follower)
    return () => this.#followers.delete(follower)
  }
}

/** The value, in a view. */
export function useFollowed<T>(followed: Followed<T>): T {
  const [value, setValue] = useState(followed.value)
  useEffect(() => {
    const take = () => setValue(() => followed.value)
    take() // it may have changed between the drawing and this
    return followed.follow(take)
  }, [followed])
  return value
}
