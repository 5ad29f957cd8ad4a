# A function for scripts whose packages contain libraries of the system. Scripts source this file; it is not run.
#   copy_licences FOLDER OUT   copies the copyright file of the Debian package of each library in FOLDER to
#                              OUT/copyright.PACKAGE
copy_licences() {
  local known library system real package
  known=$(ldconfig -p)
  for library in "$1"/*.so*; do
    system=$(awk -v n="/$(basename "$library")" 'index($NF, n) && !found {print $NF; found = 1}' <<<"$known")
    [ -n "$system" ] || continue # a second name of a listed library, or DuckDB
    real=$(readlink -f "$system") # dpkg may list the path in /lib, from before /lib became a link
    package=$( (dpkg-query -S "$real" 2>/dev/null || dpkg-query -S "${real#/usr}") | cut -d: -f1)
    cp "/usr/share/doc/$package/copyright" "$2/copyright.$package"
  done
}
