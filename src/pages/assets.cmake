# The page's template, style, scripts and ECharts as one object of the program. The scripts become one
# file in the order of their names; ECharts is compressed once, here. Without web/node_modules (see
# scripts/web_parts.sh) its part is empty, and `rankscope page` says so.
set(assets ${CMAKE_CURRENT_SOURCE_DIR}/pages/assets)
set(echarts ${PROJECT_SOURCE_DIR}/web/node_modules/echarts)
set(PAGE_ASSETS ${CMAKE_BINARY_DIR}/page_assets)
file(MAKE_DIRECTORY ${PAGE_ASSETS})
file(GLOB scripts CONFIGURE_DEPENDS ${assets}/*.js)
list(SORT scripts)
set(echarts_parts)
file(GLOB found CONFIGURE_DEPENDS ${echarts}/dist/echarts.min.j?) # a pattern: it may come later
if(found)
  set(echarts_parts ${echarts}/dist/echarts.min.js ${echarts}/package.json ${echarts}/LICENSE
    ${echarts}/NOTICE)
else()
  set(echarts absent) # another command line, so that the parts are made again
  message(STATUS "ECharts is not in web/node_modules: `rankscope page` is left out")
endif()
set(made page.html page.css page.js echarts.min.js.gz echarts.version echarts.licence)
list(TRANSFORM made PREPEND ${PAGE_ASSETS}/)
add_custom_command(OUTPUT ${made}
  COMMAND ${assets}/embed.sh ${assets} ${echarts} ${PAGE_ASSETS}
  DEPENDS ${assets}/page.html ${assets}/page.css ${assets}/embed.sh ${scripts} ${echarts_parts}
  COMMENT "parts of the page")
configure_file(pages/page_assets.cpp.in ${CMAKE_BINARY_DIR}/page_assets.cpp @ONLY)
# the object is made again when a part changes, which the compiler does not see
set_source_files_properties(${CMAKE_BINARY_DIR}/page_assets.cpp PROPERTIES
  OBJECT_DEPENDS "${made}" COMPILE_OPTIONS "-fno-lto")
target_sources(rs_pages PRIVATE ${CMAKE_BINARY_DIR}/page_assets.cpp)
