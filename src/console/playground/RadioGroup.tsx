/** A few choices side by side, one of which is selected. */
export const RadioGroup = <Name extends string>(props: {
  readonly legend: string
  readonly name: string
  readonly choices: Readonly<Record<Name, string>>
  readonly value: Name
  readonly onChange: (value: Name) => void
}) => (
  <fieldset class="switch">
    <legend class="sr-only">{props.legend}</legend>
    {(Object.entries<string>(props.choices) as Array<[Name, string]>).map(([value, text]) => (
      <label key={value}>
        <input
          type="radio"
          name={props.name}
          checked={props.value === value}
          onChange={() => props.onChange(value)}
        />
        <span>{text}</span>
      </label>
    ))}
  </fieldset>
)
