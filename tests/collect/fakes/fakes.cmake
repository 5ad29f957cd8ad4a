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

# A folder of GPU libraries: one file under the names of runtime, BLAS and light BLAS.
function(rs_fake_gpu folder source names)
  set(target fake_gpu_${folder})
  add_library(${target} MODULE ${CMAKE_CURRENT_LIST_DIR}/${source})
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME "fake" SUFFIX ".so"
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/fakes/${folder})
  target_compile_definitions(${target} PRIVATE ${ARGN})
  foreach(name ${names})
    add_custom_command(TARGET ${target} POST_BUILD COMMAND ${CMAKE_COMMAND} -E create_symlink
      fake.so ${CMAKE_CURRENT_BINARY_DIR}/fakes/${folder}/${name})
  endforeach()
  add_dependencies(rs_collect_tests ${target})
  add_dependencies(rs_fake_gpus ${target})
endfunction()

add_custom_target(rs_fake_gpus) # of the command-line tests too
set(cuda_names libcudart.so.12 libcublas.so.12 libcublasLt.so.12)
set(rocm_names libamdhip64.so.6 librocblas.so.4 libhipblaslt.so.0)
rs_fake_gpu(cuda fake_cuda.cpp "${cuda_names}")
rs_fake_gpu(cuda_crash fake_cuda.cpp "${cuda_names}" CRASH)
rs_fake_gpu(cuda_hang fake_cuda.cpp "${cuda_names}" HANG)
rs_fake_gpu(cuda_small fake_cuda.cpp "${cuda_names}" SMALL)
rs_fake_gpu(cuda_no_matmul fake_cuda.cpp "${cuda_names}" NO_MATMUL)
rs_fake_gpu(cuda_no_device fake_cuda.cpp "${cuda_names}" NO_DEVICE)
rs_fake_gpu(rocm fake_rocm.cpp "${rocm_names}")
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/../gemm_runner_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/../../cli/library_perf_native_test.cpp
  ${CMAKE_CURRENT_LIST_DIR}/../../cli/replay_test.cpp PROPERTIES
  COMPILE_DEFINITIONS RANKSCOPE_FAKES="${CMAKE_CURRENT_BINARY_DIR}/fakes")
