# Functions for scripts that need a bare root. Scripts source this file; it is not run. The root is Debian 12. For
# Ubuntu, set BARE_SUITE to its name (noble: 24.04) and BARE_MIRROR to the address of its archive.
#   bare_root_possible      succeeds if the user is root and debootstrap is installed; otherwise prints in one
#                           line what is missing
#   bare_root FOLDER        runs debootstrap, unless the folder already contains a root. apt in the root uses
#                           the same archive (the first one that has the suite) and proxy as apt here, and npm
#                           the same registry and certificates
#   bare_root_name FOLDER   prints the name of the release in the root
#   bare_copy BASE FOLDER   copies a root and mounts /proc in the copy; the loader needs /proc for $ORIGIN in
#                           the library path of a program. The caller unmounts FOLDER/proc
suite=${BARE_SUITE:-bookworm}

bare_root_possible() {
  local name
  name=$(basename "$0")
  [ "$(id -u)" -eq 0 ] || { echo "$name: needs root" >&2; return 1; }
  command -v debootstrap >/dev/null || { echo "$name: install debootstrap first" >&2; return 1; }
  mirror=${BARE_MIRROR:-$(apt-get indextargets --format '$(SITE) $(RELEASE)' 'Created-By: Packages' |
    awk -v s="$suite" '$2 == s {print $1; exit}')}
  [ -n "$mirror" ] || { echo "$name: apt knows no archive of $suite; set BARE_MIRROR" >&2; return 1; }
}

bare_bootstrap() {
  local how=/usr/share/debootstrap/scripts/$suite components=main
  if [ -n "${BARE_MIRROR:-}" ]; then
    components=main,universe
    [ -e "$how" ] || how=/usr/share/debootstrap/scripts/jammy # debootstrap does not know the newest releases
  fi
  debootstrap --variant=minbase --components=$components "$suite" "$1" "$mirror" "$how"
}

bare_root() {
  [ -e "$1/etc/debian_version" ] || bare_bootstrap "$1"
  apt-config dump | grep -E '^Acquire::(http|https|Retries)' >"$1/etc/apt/apt.conf.d/90here" || true
  cp /etc/resolv.conf /etc/hosts "$1/etc/" 2>/dev/null || true
  chmod 755 "$1" # mktemp -d: other users could not enter any folder
  if command -v npm >/dev/null; then
    local certificates
    certificates=$(npm config get cafile)
    [ -f "$certificates" ] || certificates=${NODE_EXTRA_CA_CERTS:-}
    echo "registry=$(npm config get registry)" >"$1/root/.npmrc"
    if [ -f "$certificates" ]; then
      cp "$certificates" "$1/etc/npm-certificates.pem"
      echo "cafile=/etc/npm-certificates.pem" >>"$1/root/.npmrc"
    fi
  fi
}

bare_root_name() {
  (. "$1/etc/os-release" && echo "$PRETTY_NAME")
}

bare_copy() {
  cp -a "$1" "$2"
  mount -t proc proc "$2/proc"
}
