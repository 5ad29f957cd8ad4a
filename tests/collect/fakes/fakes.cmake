# Libraries and programs that stand for the vendors' in tests.
function(rs_fake_library name source)
  add_library(${name} MODULE ${CMAKE_CURRENT_LIST_DIR}/${source})
  set_target_properties(${name} PROPERTIES PREFIX "" OUTPUT_NAME "${name}" SUFFIX ".so"
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/fakes)
  target_compile_definitions(${name} PRIVATE ${ARGN})
  add_dependencies(rs_collect_tests ${name})
endfunction()

rs_fake_library(fake_nvml fake_nvml.cpp)
rs_fake_library(fake_nvml_old fake_nvml.cpp OLD_DRIVER)
rs_fake_library(fake_nvml_no_driver fake_nvml.cpp NO_DRIVER)
rs_fake_library(fake_rocm_smi fake_rocm_smi.cpp)
rs_fake_library(fake_amdsmi_23 fake_amdsmi.cpp MAJOR=23)
rs_fake_library(fake_amdsmi_24 fake_amdsmi.cpp MAJOR=24)
rs_fake_library(fake_amdsmi_25_old fake_amdsmi.cpp MAJOR=25)
rs_fake_library(fake_amdsmi_25_new fake_amdsmi.cpp MAJOR=25 SOCKET64)
rs_fake_library(fake_amdsmi_26 fake_amdsmi.cpp MAJOR=26 SOCKET64)
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/../gpu_library_test.cpp PROPERTIES
  COMPILE_DEFINITIONS RANKSCOPE_FAKES="${CMAKE_CURRENT_BINARY_DIR}/fakes")
