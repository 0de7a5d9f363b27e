import { ADD_ON_MEANINGS, ADD_ON_NAMES, type AddOn } from '@wayleave/contract/add-ons'

export function AddOnsField({
  offered,
  chosen,
  onChange,
}: {
  offered: readonly AddOn[]
  chosen: AddOn[]
  onChange: (addOns: AddOn[]) => void
}) {
  const toggle = (addOn: AddOn) =>
    onChange(chosen.includes(addOn) ? chosen.filter((one) => one !== addOn) : [...chosen, addOn])
  return (
    <fieldset>
      <legend>Add-ons</legend>
      {offered.map((addOn) => (
        <label key={addOn} className="choice">
          <input type="checkbox" checked={chosen.includes(addOn)} onChange={() => toggle(addOn)} />
          <span title={addOn}>
            {ADD_ON_NAMES[addOn]}
            <small>{ADD_ON_MEANINGS[addOn]}</small>
          </span>
        </label>
      ))}
    </fieldset>
  )
}
