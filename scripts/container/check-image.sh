#!/bin/bash
# `npm run container:check`: builds ops/container/Containerfile for real and runs what it contains, as root, without a
# container registry: the base images are made of Debian packages (mmdebstrap) and of the Node and npm of this machine.
# The content of the image is run without root, without capabilities and on a read-only root file system, in a mount
# namespace of bubblewrap: container runtimes need cgroups, which a build machine may not have. It takes some minutes
# and 3 GB.
#
#   apt-get install --no-install-recommends bubblewrap buildah mmdebstrap
#   BASE_TAR=base.tar npm run container:check     # with a tar of an earlier mmdebstrap
set -euo pipefail
cd "$(dirname "$0")/../.."
PORT=${PORT:-18080}
folder=$(mktemp -d /var/tmp/wayleave-image-XXXXXX)
export BUILDAH_ISOLATION=chroot
images() { buildah --root "$folder/store" --runroot "$folder/run" --storage-driver vfs "$@"; }
server=
# To the process inside, because bubblewrap passes no signals on.
signal() { kill "-$1" $(cat "/proc/$server/task/$server/children"); }
finish() {
  if [ -n "$server" ]; then signal KILL 2>/dev/null || true; fi
  images rm --all >/dev/null 2>&1 || true
  rm -rf "$folder"
}
trap finish EXIT

node=$(node --print process.execPath)
npm=$(dirname "$(dirname "$(readlink -f "$(PATH=/usr/local/bin:/usr/bin:/bin command -v npm)")")")

echo 'Packing the program'
npm run build --silent
mkdir -p "$folder/context/dist/release"
npm pack ./dist/program --silent --pack-destination "$folder/context/dist/release"

echo 'Making the base images'
base=${BASE_TAR:-$folder/base.tar}
[ -f "$base" ] || mmdebstrap --quiet --variant=minbase --include=bubblewrap,ca-certificates,tini bookworm "$base"
container=$(images from scratch)
images add --quiet "$container" "$base" /
images commit --quiet --rm "$container" localhost/base
container=$(images from localhost/base)
images copy --quiet "$container" "$npm" /usr/local/lib/node_modules/npm
images copy --quiet "$container" "$node" /usr/local/bin/node
# The certificates that this machine trusts: a mirror of the registry may have its own.
images copy --quiet "$container" /etc/ssl/certs/ca-certificates.crt /certificates.crt
images config --env npm_config_cafile=/certificates.crt "$container"
images run "$container" -- ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
images commit --quiet --rm "$container" localhost/node

echo 'Building the image'
images build --quiet --format docker --build-arg NODE_IMAGE=localhost/node --build-arg BASE_IMAGE=localhost/base \
  --tag localhost/wayleave --file ops/container/Containerfile "$folder/context"

echo 'Running it'
image=$(images mount "$(images from localhost/wayleave)")
install --directory --mode 0700 --owner 10001 --group 10001 "$folder/data"
if curl --silent --output /dev/null "http://127.0.0.1:$PORT/"; then echo "Port $PORT is in use: set PORT."; exit 1; fi
box=(bwrap --bind "$image" / --proc /proc --dev /dev --perms 1777 --tmpfs /tmp --bind "$folder/data" /data --remount-ro /
    --cap-drop ALL --cap-add CAP_SETUID --cap-add CAP_SETGID --cap-add CAP_SETPCAP --clearenv
    --setenv PATH /opt/wayleave/bin:/usr/bin:/bin --setenv WAYLEAVE_HOST 127.0.0.1 --setenv WAYLEAVE_PORT "$PORT"
    --setenv WAYLEAVE_DATA_DIR /data --setenv WAYLEAVE_TILES false --setenv WAYLEAVE_SANDBOX require --
    setpriv --no-new-privs --reuid 10001 --regid 10001 --clear-groups --bounding-set=-all --inh-caps=-all --)
inside() { "${box[@]}" "$@"; }
# Not by the function: the shell that runs it would get the signals.
"${box[@]}" /usr/bin/tini -- wayleave serve 2>"$folder/log" &
server=$!
health=$(sed -n 's/^  CMD \["node", "--eval", "\(.*\)"\]$/\1/p' ops/container/Containerfile)
for _ in $(seq 60); do
  inside node --eval "$health" && break
  kill -0 "$server" || { cat "$folder/log"; exit 1; }
  sleep 0.5
done
inside node --eval "$health"
if inside touch /opt/written 2>/dev/null; then echo 'The root file system can be written to.'; exit 1; fi
inside grep --quiet $'^Uid:\t10001' /proc/self/status
inside grep --quiet '^CapEff:.*0000000000000000$' /proc/self/status
inside wayleave doctor | grep --quiet '^ok *sandbox .*bubblewrap'
printf '{"type":"Feature","properties":{"name":"a"},"geometry":{"type":"Point","coordinates":[5,52]}}' >"$folder/data/a.geojson"
inside wayleave publish /data/a.geojson --table points
# A service that is overloaded for a moment says when to try again.
sample=$(curl --silent --show-error --retry 5 --fail-with-body "http://127.0.0.1:$PORT/v1/dataset/points/sample/json") ||
  { echo "$sample"; cat "$folder/log"; exit 1; }
grep --quiet '"longitude":5' <<<"$sample"
signal TERM
wait "$server"
server=
echo 'The image works: health check, user 10001, no capabilities, read-only root, publishing in the sandbox, SIGTERM.'
