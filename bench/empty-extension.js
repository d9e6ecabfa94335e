/** What every extension costs: `bench/pi.ts` compares with it. */
export default function empty() {}
