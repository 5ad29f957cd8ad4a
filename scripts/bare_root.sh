# Functions for scripts that need a bare Debian 12 root. Scripts source this file; it is not run.
#   bare_root_possible      succeeds if the user is root and debootstrap is installed; otherwise prints in one
#                           line what is missing
#   bare_root FOLDER        runs debootstrap, unless the folder already contains a root. apt in the root uses
#                           the same archive (the first one that has the suite) and proxy as apt here, and npm
#                           the same registry and certificates
#   bare_copy BASE FOLDER   copies a root and mounts /proc in the copy; the loader needs /proc for $ORIGIN in
#                           the library path of a program. The caller unmounts FOLDER/proc
suite=bookworm

bare_root_possible() {
  local name
  name=$(basename "$0")
  [ "$(id -u)" -eq 0 ] || { echo "$name: needs root" >&2; return 1; }
  command -v debootstrap >/dev/null || { echo "$name: install debootstrap first" >&2; return 1; }
  mirror=$(apt-get indextargets --format '$(SITE) $(RELEASE)' 'Created-By: Packages' |
    awk -v s=$suite '$2 == s {print $1; exit}')
  [ -n "$mirror" ] || { echo "$name: apt knows no archive of $suite" >&2; return 1; }
}

bare_root() {
  [ -e "$1/etc/debian_version" ] || debootstrap --variant=minbase "$suite" "$1" "$mirror"
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

bare_copy() {
  cp -a "$1" "$2"
  mount -t proc proc "$2/proc"
}
