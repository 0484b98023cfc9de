const steps: ReadonlyArray<readonly [seconds: number, unit: Intl.RelativeTimeFormatUnit]> = [
  [60, "second"],
  [3600, "minute"],
  [86_400, "hour"],
  [2_592_000, "day"],
  [31_536_000, "month"],
  [Number.POSITIVE_INFINITY, "year"]
]

const words = new Intl.RelativeTimeFormat("en", { numeric: "auto" })

const ago = (date: Date): string => {
  const seconds = (date.getTime() - Date.now()) / 1000
  let size = 1
  for (const [limit, unit] of steps) {
    if (Math.abs(seconds) < limit) return words.format(Math.round(seconds / size), unit)
    size = limit
  }
  return date.toISOString()
}

/** A time relative to now, with the exact time on hover. */
export const RelativeTime = ({ at }: { readonly at: string }) => {
  const date = new Date(at)
  if (Number.isNaN(date.getTime())) return <bdi>{at}</bdi>
  return (
    <time dateTime={at} title={date.toISOString()}>
      {ago(date)}
      <span class="when-exact">{date.toLocaleString([], { dateStyle: "medium", timeStyle: "short" })}</span>
    </time>
  )
}
