#!/bin/sh
# Records docs/cli.md's session: each command runs in a pseudo terminal, in an empty directory; progress lines show
# their last state. Usage: sh docs/record-cli.sh (in the checkout; needs util-linux's script)
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir bin
printf '#!/bin/sh\nexec node --import "file://%s/node_modules/tsx/dist/loader.mjs" "%s/src/layers/bin/chainstore.ts" "$@"\n' "$root" "$root" > bin/chainstore
chmod +x bin/chainstore
PATH="$work/bin:$PATH"
export PATH
{
  echo "sku,name,category,price"
  n=1
  while [ $n -le 1200 ]; do echo "p$n,Product $n,c$((n % 7)),$((n % 90)).5"; n=$((n + 1)); done
} > products.csv
play() {
  printf '$ %s\n' "$1"
  script -qec "stty cols 100; $1" /dev/null < /dev/null | tr -d '\004\010' |
    sed 's/\^D//; s/\x1b\[2K/\n/g' | tr -d '\r' |
    awk '/^(importing|exporting)/ {held = $0; next} held != "" {print held; held = ""} $0 != "" {print} END {if (held != "") print held}'
}
play 'chainstore import products products.csv --id-field sku --cells json --index products.category --dry-run --json 2>/dev/null | tail -1'
play 'chainstore import products products.csv --id-field sku --cells json --index products.category'
play 'chainstore query products --field category --value c3 --limit 4'
play "chainstore put products p10 --merge --data '{\"price\":9}'"
play 'chainstore history products p10'
play 'chainstore diff products p10 $(git -C .chainstore/repos/local/demo.git rev-parse main~1)'
play 'chainstore get products nothing'
play 'chainstore export products products.xlsx'
play 'chainstore doctor'
