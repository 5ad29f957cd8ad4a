# Sourced by the scripts that hand libraries of the system out, not run.
#   copy_licences FOLDER OUT   writes OUT/copyright.PACKAGE for the libraries in FOLDER, in the words of their
#                              packages
copy_licences() {
  local known library system real package
  known=$(ldconfig -p)
  for library in "$1"/*.so*; do
    system=$(awk -v n="/$(basename "$library")" 'index($NF, n) && !found {print $NF; found = 1}' <<<"$known")
    [ -n "$system" ] || continue # another name of one that is known, or DuckDB
    real=$(readlink -f "$system") # dpkg may know it by its name from before /lib became a link
    package=$( (dpkg-query -S "$real" 2>/dev/null || dpkg-query -S "${real#/usr}") | cut -d: -f1)
    cp "/usr/share/doc/$package/copyright" "$2/copyright.$package"
  done
}
