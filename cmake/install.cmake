# What `cmake --install` puts where, and the packages that CPack makes of it: the program, its manual
# pages and completions (made by the program itself), the documents, and DuckDB where it was fetched.
# `cmake --install BUILD --component bundle` adds the shared libraries that a system may lack, for a
# tarball that runs where they are not installed.
include(GNUInstallDirs)

# The program looks for its own libraries in ../lib/rankscope, in the build tree too: CMake would pad a
# separate RPATH of the build with empty elements, and an empty element is the current folder.
set(rankscope_private lib/rankscope)
set_target_properties(rankscope PROPERTIES INSTALL_RPATH "$ORIGIN/../${rankscope_private}"
  BUILD_WITH_INSTALL_RPATH ON)
set_target_properties(rankscope_shared PROPERTIES INSTALL_RPATH "$ORIGIN/rankscope"
  BUILD_WITH_INSTALL_RPATH ON)
# DT_RPATH, which also holds for what the libraries there need themselves
foreach(target IN ITEMS rankscope rankscope_shared)
  target_link_options(${target} PRIVATE -Wl,--disable-new-dtags)
endforeach()

install(TARGETS rankscope RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# In no package: `cmake --install BUILD --component mpi` puts them where their MPI is.
foreach(program IN LISTS RANKSCOPE_MPI_BUILT)
  # an MPI that is not the system's stays where it was linked
  set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/../${rankscope_private}"
    INSTALL_RPATH_USE_LINK_PATH ON BUILD_WITH_INSTALL_RPATH ON)
  install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT mpi EXCLUDE_FROM_ALL)
endforeach()
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs)
install(DIRECTORY examples/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/examples
  PATTERN __pycache__ EXCLUDE)
set(rankscope_duckdb ${PROJECT_SOURCE_DIR}/web/node_modules/@duckdb/node-bindings-linux-x64)
install(FILES ${rankscope_duckdb}/libduckdb.so DESTINATION ${rankscope_private} OPTIONAL)

# The Debian package that holds a library's file; empty where dpkg does not know.
function(rankscope_package_of library result)
  set(${result} "" PARENT_SCOPE)
  get_filename_component(real ${library} REALPATH)
  find_program(DPKG_QUERY dpkg-query)
  if(DPKG_QUERY)
    execute_process(COMMAND ${DPKG_QUERY} -S ${real} OUTPUT_VARIABLE found ERROR_QUIET)
    if(found MATCHES "^([^:]+):")
      set(${result} ${CMAKE_MATCH_1} PARENT_SCOPE)
    endif()
  endif()
endfunction()

# The licences of what the program contains: archives and headers of the system's packages, parts from npm.
# scripts/bundled_licences.sh copies those of the shared libraries in a bundle.
find_file(RANKSCOPE_CLI11_HEADER CLI/CLI.hpp)
foreach(file IN ITEMS ${RANKSCOPE_sqlite3_ARCHIVE} ${RANKSCOPE_zstd_ARCHIVE} ${RANKSCOPE_pugixml_ARCHIVE}
    ${RANKSCOPE_CLI11_HEADER})
  rankscope_package_of(${file} package)
  if(package)
    install(FILES /usr/share/doc/${package}/copyright DESTINATION ${CMAKE_INSTALL_DOCDIR}
      COMPONENT licences RENAME copyright.${package})
  endif()
endforeach()
foreach(part IN ITEMS echarts zrender tslib @duckdb/node-bindings-linux-x64)
  string(REGEX MATCH "[a-z]+" name ${part})
  file(GLOB licence ${PROJECT_SOURCE_DIR}/web/node_modules/${part}/LICENSE*)
  install(FILES ${licence} DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT licences
    RENAME copyright.${name})
endforeach()

# The program writes its own pages, so that they cannot say what it does not take.
install(CODE "
  set(prefix \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
  set(program \"$<TARGET_FILE:rankscope>\")
  message(STATUS \"Installing: \${prefix}/${CMAKE_INSTALL_DATADIR}: manual pages and completions\")
  execute_process(COMMAND \${program} man -o \${prefix}/${CMAKE_INSTALL_MANDIR}/man1
    COMMAND_ERROR_IS_FATAL ANY)
  foreach(place IN ITEMS bash:bash-completion/completions/rankscope
      zsh:zsh/site-functions/_rankscope fish:fish/vendor_completions.d/rankscope.fish)
    string(REGEX MATCH \"^([a-z]+):(.*)$\" whole \${place})
    set(shell \${CMAKE_MATCH_1})
    set(file \${prefix}/${CMAKE_INSTALL_DATADIR}/\${CMAKE_MATCH_2})
    get_filename_component(folder \${file} DIRECTORY)
    file(MAKE_DIRECTORY \${folder})
    execute_process(COMMAND \${program} completion \${shell} OUTPUT_FILE \${file}
      COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
")

# The C and C++ libraries are each system's own: a newer one must be able to serve what is opened late.
install(CODE "
  file(GET_RUNTIME_DEPENDENCIES EXECUTABLES \"$<TARGET_FILE:rankscope>\"
    LIBRARIES \"${XLSXWRITER_LIBRARY}\" \"${LIBZIP_LIBRARY}\"
    RESOLVED_DEPENDENCIES_VAR needed UNRESOLVED_DEPENDENCIES_VAR missing
    PRE_EXCLUDE_REGEXES \"^ld-linux\" \"^lib(c|m|dl|rt|pthread|gcc_s|stdc[+][+])[.]so\")
  if(missing)
    message(FATAL_ERROR \"not found: \${missing}\")
  endif()
  foreach(library IN ITEMS \${needed} \"${XLSXWRITER_LIBRARY}\" \"${LIBZIP_LIBRARY}\")
    file(INSTALL DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${rankscope_private}\" TYPE SHARED_LIBRARY
      FOLLOW_SYMLINK_CHAIN FILES \${library})
  endforeach()
" COMPONENT bundle EXCLUDE_FROM_ALL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "rankscope developers <rankscope@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "performance analysis of distributed GPU runs")
set(CPACK_PACKAGE_DESCRIPTION
  "Reads the traces of all ranks of a run, of PyTorch and of the profilers of AMD and NVIDIA, and says\nwhich matrix products vary and why, which collectives they overlap, which rank is late and which\nRCCL or NCCL configuration is better.")
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libcairo2, fonts-dejavu-core")
# those that are opened at their first use are unknown to dpkg-shlibdeps
set(late "")
foreach(library IN ITEMS ${XLSXWRITER_LIBRARY} ${LIBZIP_LIBRARY})
  rankscope_package_of(${library} package)
  list(APPEND late ${package})
endforeach()
list(JOIN late ", " CPACK_DEBIAN_PACKAGE_DEPENDS)
include(CPack)
