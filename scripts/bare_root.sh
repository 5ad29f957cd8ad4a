# Sourced by the scripts that need a bare Debian 12 root, not run.
#   bare_root_possible      root and debootstrap are there; else one line says what is missing
#   bare_root FOLDER        debootstrap, unless the folder holds a root; its apt then goes the way apt
#                           goes here (the first archive that has the suite, the same proxy)
#   bare_copy BASE FOLDER   a copy of a root with /proc, which the loader needs for $ORIGIN in the path of a
#                           program's libraries; the caller unmounts FOLDER/proc
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
}

bare_copy() {
  cp -a "$1" "$2"
  mount -t proc proc "$2/proc"
}
