# Every third-party library, from the system's packages; scripts/install_deps.sh names the packages.
# visible to a project that takes this one in with add_subdirectory (CMake 3.24)
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL TRUE)
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(CLI11 REQUIRED)
find_package(simdjson REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(pugixml REQUIRED)
pkg_check_modules(ISAL REQUIRED IMPORTED_TARGET GLOBAL libisal)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET GLOBAL libzstd)
pkg_check_modules(LIBZIP REQUIRED IMPORTED_TARGET GLOBAL libzip)
# Headers alone: plots open these libraries at their first use, and are left out where there are none.
pkg_check_modules(CAIRO REQUIRED cairo)
pkg_check_modules(PNG REQUIRED libpng)
add_library(rankscope_plots INTERFACE)
target_include_directories(rankscope_plots SYSTEM INTERFACE ${CAIRO_INCLUDE_DIRS} ${PNG_INCLUDE_DIRS})
find_path(XLSXWRITER_INCLUDE_DIR xlsxwriter.h REQUIRED)
find_library(XLSXWRITER_LIBRARY xlsxwriter REQUIRED)
pkg_get_variable(LIBZIP_LIBRARY_DIR libzip libdir)
find_library(LIBZIP_LIBRARY zip HINTS ${LIBZIP_LIBRARY_DIR} REQUIRED)

# Those that few commands use are opened when they are, by the name that a linked program would have for
# them: both pull libcrypto in, and starting these took a third of a short command. OFF links them.
option(RANKSCOPE_OPEN_LATE "open libzip and libxlsxwriter at their first use" ON)

# A target with the headers of a library, and with MACRO="its soname" where it can be opened late, else
# with the library.
function(rankscope_late_library target macro include_dir library)
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE ${include_dir})
  set(soname "")
  if(RANKSCOPE_OPEN_LATE AND CMAKE_READELF)
    execute_process(COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C ${CMAKE_READELF} -d ${library}
      OUTPUT_VARIABLE dynamic ERROR_QUIET)
    if(dynamic MATCHES "SONAME[^[]*\\[([^]]+)\\]")
      set(soname ${CMAKE_MATCH_1})
    endif()
  endif()
  if(soname)
    target_compile_definitions(${target} INTERFACE ${macro}="${soname}")
  else()
    target_link_libraries(${target} INTERFACE ${library})
  endif()
endfunction()
rankscope_late_library(rankscope_xlsxwriter RANKSCOPE_XLSXWRITER_SONAME
  ${XLSXWRITER_INCLUDE_DIR} ${XLSXWRITER_LIBRARY})
rankscope_late_library(rankscope_libzip RANKSCOPE_LIBZIP_SONAME "${LIBZIP_INCLUDE_DIRS}" ${LIBZIP_LIBRARY})

# Small ones are linked in where the system has them as archives: a shared SQLite takes a tenth of a start
# for its table of functions, and every command pays. OFF, or no archive: as shared libraries.
option(RANKSCOPE_ARCHIVES "link SQLite, zstd and pugixml in as archives where there are some" ON)

# rankscope_archive(TARGET NAME LIBRARIES...): TARGET links libNAME.a with what it needs, in place of its
# shared library.
function(rankscope_archive target name)
  find_library(RANKSCOPE_${name}_ARCHIVE lib${name}.a)
  if(RANKSCOPE_ARCHIVES AND RANKSCOPE_${name}_ARCHIVE)
    get_target_property(includes ${target} INTERFACE_INCLUDE_DIRECTORIES)
    add_library(rankscope_${name} INTERFACE)
    if(includes)
      target_include_directories(rankscope_${name} SYSTEM INTERFACE ${includes})
    endif()
    target_link_libraries(rankscope_${name} INTERFACE ${RANKSCOPE_${name}_ARCHIVE} ${ARGN})
  else()
    add_library(rankscope_${name} INTERFACE)
    target_link_libraries(rankscope_${name} INTERFACE ${target})
  endif()
endfunction()
rankscope_archive(SQLite::SQLite3 sqlite3 Threads::Threads m ${CMAKE_DL_LIBS})
rankscope_archive(PkgConfig::ZSTD zstd Threads::Threads)
rankscope_archive(pugixml::pugixml pugixml)
